from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast

from ._authorize import (
    Asked,
    agent_of,
    as_resumable_call,
    as_unavailable,
    ask,
    cause_of,
    check_spend_request,
    check_wait,
    is_paid,
    is_unavailable,
    payable_of,
    until_allowed,
    was_in_shadow,
)
from ._core import Core
from ._errors import (
    APIConnectionError,
    APIError,
    PaymentFailed,
    PurserError,
    SpendFailed,
    SpendRefused,
    SpendUncertain,
    SpendUnfinished,
)
from ._io import CallBack, Work
from ._memory import MEMORY, SpendCall
from ._options import check_callable, check_flag
from ._shapes import is_amount, is_currency, is_mapping
from ._transport import Answer, Call, CallOptions

if TYPE_CHECKING:
    from .types import Capability, Decision, Outcome, SpendRequest

P = TypeVar("P")

_REPORT_RETRIES = 5
#: Seconds for the report of a payment whose caller is being cancelled.
_LAST_REPORT = 5.0


@dataclass(frozen=True)
class Grant:
    """The input of `pay`."""

    #: None only when paying unguarded (`on_unavailable`).
    decision: Decision | None = field(repr=False)
    #: In ENFORCE. Without `adapter` its token is what the payment point consumes, and a secret.
    capability: Capability | None = field(repr=False)
    amount_minor: int
    currency: str
    #: For the payment system's idempotency key: `purser-<decision_id>`.
    payment_key: str


@dataclass(frozen=True)
class Spent(Generic[P]):
    """A spend whose money moved."""

    #: 'paid': now; 'already_paid': an earlier call paid, `pay` did not run; 'unguarded': paid while Purser was away.
    status: Literal["paid", "already_paid", "unguarded"]
    decision: Decision | None = field(repr=False)
    #: The result of `pay`; None if it did not run.
    payment: P | None
    #: The outcome as recorded; None when there is no report of this call.
    outcome: Outcome | None


@dataclass(frozen=True)
class Unreported:
    """A report that the service does not have."""

    decision_id: str
    outcome: Mapping[str, Any]
    error: BaseException


@dataclass(frozen=True)
class SpendOptions:
    """Checked options of `spend`."""

    adapter: Core | None
    wait: float
    on_unavailable: object
    payment_is_idempotent: bool
    is_definite_failure: Callable[[BaseException], object] | None
    on_unreported: Callable[[Unreported], object] | None
    #: A sync client cannot await: what a callback gives is then all that it says.
    is_async: bool


def is_async_function(function: object) -> bool:
    """True if calling it gives a coroutine."""
    inner: Any = function
    while isinstance(inner, partial):
        inner = cast("Any", inner).func
    called: Any = getattr(inner.__class__, "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(inner) or inspect.iscoroutinefunction(called)


def checked_options(
    adapter: Core | None,
    wait_for_review: float,
    on_unavailable: object,
    payment_is_idempotent: bool,
    is_definite_failure: Callable[[BaseException], object] | None,
    on_unreported: Callable[[Unreported], object] | None,
    *,
    is_async: bool,
) -> SpendOptions:
    """Raises a `TypeError` or a `ValueError` that names the option at fault."""
    if not callable(on_unavailable) and on_unavailable not in ("refuse", "pay_if_shadow"):
        kind = ValueError if isinstance(on_unavailable, str) else TypeError
        raise kind("on_unavailable must be 'refuse', 'pay_if_shadow' or a function")
    check_flag("payment_is_idempotent", payment_is_idempotent)
    if is_definite_failure is not None:
        check_callable("is_definite_failure", is_definite_failure)
    if on_unreported is not None:
        check_callable("on_unreported", on_unreported)
    return SpendOptions(
        adapter,
        check_wait(wait_for_review),
        on_unavailable,
        payment_is_idempotent,
        is_definite_failure,
        on_unreported,
        is_async,
    )


def spend(
    core: Core, request: SpendRequest, pay: Callable[[Grant], object], options: SpendOptions
) -> Work[Spent[Any]]:
    """See `Purser.spend`."""
    check_spend_request(request)
    check_callable("pay", pay)
    if not options.is_async and is_async_function(pay):
        raise TypeError("pay is async: use AsyncPurser, or a function that pays before it returns")
    name = core.settings.name_of(agent_of(request), request["idempotency_key"])
    has_begun = False

    def work(call: SpendCall) -> Work[Spent[Any]]:
        nonlocal has_begun
        asked: Asked | None = None
        try:
            asked = yield from ask(core, call.id, request)
            call.made_decision = asked.mine
        except PurserError as error:
            down = as_unavailable(error, "nothing was paid")
            may_pay = is_unavailable(error) and (yield from _may_pay_unguarded(core, down, request, options))
            # Looked up after all waiting, and set at once: of several calls of this process one pays.
            if may_pay:
                with MEMORY.lock:
                    if MEMORY.begun.get(name) is None:
                        MEMORY.begun.set(name, "unguarded")
                        has_begun = True
            if not has_begun:
                raise down from cause_of(error)
        if asked is None:
            return (yield from _pay_unguarded(name, request, pay, options))
        decision = yield from until_allowed(core, asked, request, options.wait)
        if is_paid(decision):
            return Spent("already_paid", decision, None, None)
        _refuse_after_unguarded(name, decision)
        yield from _pass_gate(decision, asked, call.id, options)
        with MEMORY.lock:
            has_begun = MEMORY.begun.get(name) != "unguarded"
            if has_begun:
                MEMORY.begun.set(name, "guarded")
        # Looked up again: another caller may have paid unguarded meanwhile.
        _refuse_after_unguarded(name, decision)
        return (yield from _pay_and_report(core, name, decision, pay, options))

    spent: Spent[Any] = yield from as_resumable_call(name, lambda: has_begun, work)
    return spent


def _refuse_after_unguarded(name: str, decision: Decision) -> None:
    with MEMORY.lock:
        was_begun = MEMORY.begun.get(name)
    if was_begun == "unguarded":
        raise SpendUnfinished("It may have been paid while Purser was unreachable", decision)


def _pass_gate(decision: Decision, asked: Asked, call_id: str, options: SpendOptions) -> Work[None]:
    """Lets one caller of a name through at most, unless the payment system itself recognizes repeats."""
    adapter, is_idempotent = options.adapter, options.payment_is_idempotent
    capability = decision["capability"]

    def unfinished(why: str) -> SpendUnfinished:
        return SpendUnfinished(f"{why}: check the payment system first", decision)

    if decision["mode"] == "SHADOW" or adapter is None:
        # Nothing is consumed here: of all callers only the one that made the decision knows that no other has paid.
        if not asked.mine and not is_idempotent:
            raise unfinished("Another call with this name may have paid")
        status = "not there" if capability is None else capability["status"]
        if decision["mode"] == "SHADOW" or status == "ISSUED":
            return
        raise unfinished(f"The capability is {status}")
    token = None if capability is None else capability.get("token")
    if capability is None or token is None:
        raise unfinished("Another key made the request under this name, and only that key can see the token")
    decision_id, currency, amount = decision["decision_id"], decision["currency"], payable_of(decision)
    key = f"purser-{decision_id}" if is_idempotent else f"purser-{decision_id}-{call_id}"
    body: dict[str, object] = {"token": token, "amount_minor": amount, "currency": currency}
    if capability["payee_id"] is not None:
        body["payee_id"] = capability["payee_id"]
    call = Call(
        "POST",
        "/v1/capabilities/consume",
        {"idempotency_key": key},
        body=body,
        keyed="by the caller",
        shape="consumption",
    )
    try:
        answer: Answer = yield from adapter.send(call)
        used = answer.data
        if (used["decision_id"], used["currency"], used["amount_minor"]) == (decision_id, currency, amount):
            return
        raise APIConnectionError("The response is not a consumption of this capability", idempotency_key=key)
    except PurserError as error:
        if isinstance(error, APIError) and error.code == "capability_used":
            raise unfinished("Another call with this name started to pay") from error
        if isinstance(error, APIError) and error.status < 500:
            raise SpendRefused(
                f"The capability was refused: {error}",
                decision,
                request_id=error.request_id,
                idempotency_key=key,
            ) from error
        raise as_unavailable(error, "nothing was paid") from error


def _pay_and_report(
    core: Core, name: str, decision: Decision, pay: Callable[[Grant], object], options: SpendOptions
) -> Work[Spent[Any]]:
    decision_id, currency, amount = decision["decision_id"], decision["currency"], payable_of(decision)
    grant = Grant(decision, decision["capability"], amount, currency, f"purser-{decision_id}")
    try:
        payment = yield from _pay(pay, grant)
    except Exception as cause:
        if not (yield from _proves_failure(cause, options)):
            raise SpendUncertain(
                "`pay` raised, so the result is unknown and was not reported", decision
            ) from cause
        with MEMORY.lock:
            MEMORY.begun.pop(name)
        yield from _report(core, decision, {"type": "SPEND_FAILED"}, options)
        raise SpendFailed(f"The payment failed: {cause}", decision) from cause
    # The payment is made: nothing below may raise, or the caller would pay again.
    outcome = yield from _report(core, decision, _outcome_of(payment, amount), options)
    return Spent("paid", decision, payment, outcome)


def _pay(pay: Callable[[Grant], object], grant: Grant) -> Work[object]:
    payment: object = yield CallBack(pay, (grant,))
    if inspect.isawaitable(payment):
        # To a sync client, which cannot know whether it would have paid.
        if inspect.iscoroutine(payment):
            payment.close()
        raise TypeError("pay gave an awaitable: use AsyncPurser")
    return payment


def _outcome_of(payment: object, amount: int) -> dict[str, object]:
    """What is reported of the value of `pay`. Never raises: what cannot be reported is found when it is sent."""
    outcome: dict[str, object] = {"type": "SPEND_EXECUTED", "amount_minor": amount}
    if is_mapping(payment):
        for field_name in ("amount_minor", "external_reference", "occurred_at"):
            try:
                value: object = payment.get(field_name)
            except Exception:
                continue
            if isinstance(value, datetime) and value.tzinfo is not None:
                value = value.isoformat()
            if value is not None:
                outcome[field_name] = value
    return outcome


def _report(
    core: Core, decision: Decision, outcome: dict[str, object], options: SpendOptions
) -> Work[Outcome | None]:
    """The outcome as recorded; None when it could not be reported, which `on_unreported` is told."""
    reporter = options.adapter or core
    source = "CLIENT_REPORTED" if options.adapter is None else "PAYMENT_RAIL"
    body = {**outcome, "currency": decision["currency"], "source": source}
    decision_id = decision["decision_id"]
    ended: BaseException | None = None
    try:
        try:
            return (yield from _send_report(reporter, decision_id, body, {"max_retries": _REPORT_RETRIES}))
        except Exception:
            raise
        except BaseException as interruption:
            # An exact repeat is free, so it is sent once more and for the last time.
            ended = interruption
            last: CallOptions = {"max_retries": 0, "timeout": _LAST_REPORT}
            recorded = yield from _send_report(reporter, decision_id, body, last)
    except BaseException as error:
        if ended is None and not isinstance(error, Exception):
            ended = error
        if options.on_unreported is not None:
            try:
                given = yield CallBack(options.on_unreported, (Unreported(decision_id, body, error),))
                if inspect.iscoroutine(given):
                    given.close()
            except Exception:
                # The money has moved: that is what the caller has to hear.
                pass
        recorded = None
    if ended is not None:
        raise ended
    return recorded


def _send_report(
    reporter: Core, decision_id: str, body: Mapping[str, object], options: CallOptions
) -> Work[Outcome]:
    call = Call(
        "POST",
        "/v1/decisions/:id/outcomes",
        options,
        params={"id": decision_id},
        body=body,
        repeatable=True,
        shape="outcome",
    )
    answer: Answer = yield from reporter.send(call)
    if answer.data["decision_id"] == decision_id and answer.data["type"] == body["type"]:
        return cast("Outcome", answer.data)
    raise APIConnectionError("The response is not an outcome of this decision: the server is not Purser")


def _may_pay_unguarded(
    core: Core, down: PurserError, request: SpendRequest, options: SpendOptions
) -> Work[bool]:
    # With Purser away nobody else looks at what a model may have written.
    action = cast("Mapping[str, Any]", request["action"])
    amount = action.get("amount_minor")
    if not is_amount(amount) or amount == 0 or not is_currency(action.get("currency")):
        return False
    if options.on_unavailable == "pay_if_shadow":
        return was_in_shadow(core, request)
    if not callable(options.on_unavailable):
        return False
    given: object = yield CallBack(options.on_unavailable, (down, request))
    if inspect.iscoroutine(given):
        given.close()
    return isinstance(given, str) and given == "pay"


def _pay_unguarded(
    name: str, request: SpendRequest, pay: Callable[[Grant], object], options: SpendOptions
) -> Work[Spent[Any]]:
    """Pays without Purser. What `pay` raises is raised as it is: there is no decision to speak of."""
    action = request["action"]
    key = f"purser-{request['idempotency_key']}"
    grant = Grant(None, None, action["amount_minor"], action["currency"], key)
    try:
        payment = yield from _pay(pay, grant)
    except Exception as error:
        if (yield from _proves_failure(error, options)):
            with MEMORY.lock:
                MEMORY.begun.pop(name)
        raise
    return Spent("unguarded", None, payment, None)


def _proves_failure(error: BaseException, options: SpendOptions) -> Work[bool]:
    """A judge that fails has proved nothing."""
    if options.is_definite_failure is None:
        return isinstance(error, PaymentFailed)
    try:
        given: object = yield CallBack(options.is_definite_failure, (error,))
        if inspect.iscoroutine(given):
            given.close()
        return given is True
    except Exception:
        return False
