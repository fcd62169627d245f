"""What every guard does: describes the spend of a tool call, asks, and says in sentences for the model why not."""

from __future__ import annotations

import asyncio
import inspect
import json
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any, TypedDict, TypeVar, Union, cast

from .. import _errors as errors
from .._client import AsyncPurser, OnUnavailable, Purser
from .._spend import Grant, Unreported
from ..types import Decision, SpendRequest

if sys.version_info >= (3, 12):
    from typing import Unpack as Unpack
else:
    from typing_extensions import Unpack as Unpack

T = TypeVar("T")
AnyPurser = Union[Purser, AsyncPurser]
ToSpend = Callable[[dict[str, Any], "str | None"], Union[SpendRequest, Awaitable[SpendRequest]]]
"""Describes the spend of a tool call, from its arguments and the framework's id of the call. `idempotency_key` names the
purchase (its order, its invoice): the same name is never paid twice. If it raises, the tool does not run."""


class Refusal(TypedDict):
    """What the model gets instead of a tool's result."""

    #: DENIED, WAITING_FOR_REVIEW, ALREADY_PAID, FAILED, UNAVAILABLE, REFUSED, or UNCERTAIN: the tool began to pay, and
    #: whether it did is for the payment system to say. In all others nothing was paid by this call.
    status: str
    #: In sentences for the model: no limits, no thresholds.
    reason: str
    decision_id: str | None


class GuardOptions(TypedDict, total=False):
    """Options of every guard."""

    #: A client with the scope `consume`, where no payment adapter behind the tool consumes the capability.
    adapter: AnyPurser | None
    #: Seconds.
    wait_for_review: float
    on_unavailable: OnUnavailable
    #: For your log. What it raises is ignored.
    on_refusal: Callable[[Refusal, BaseException | None], object] | None


class GuardToolOptions(GuardOptions, total=False):
    """Options of a guard that runs the tool itself."""

    payment_is_idempotent: bool
    is_definite_failure: Callable[[BaseException], object] | None
    on_unreported: Callable[[Unreported], object] | None
    #: Reads the payment from a tool's result. Without it the granted amount counts as paid.
    payment_of: Callable[[Any], Mapping[str, Any]] | None


_NOTHING = "Nothing was paid by this call."
_DENIED = f"This spend is not allowed. {_NOTHING} Do not try another way; ask the person you work for."
_WAITING = f"A person must review this spend first. {_NOTHING} Ask again later, under the same name."
_AWAY = f"The spend could not be checked right now. {_NOTHING} Try again later."
_UNCERTAIN = "It is unknown if this was paid. Do not buy it again; a person must check it."
_UNFINISHED = "An earlier call started to pay this. Do not buy it again; a person must check it."
_TOLD: tuple[tuple[type[Exception], str, str], ...] = (
    (errors.SpendDenied, "DENIED", _DENIED),
    (errors.SpendPending, "WAITING_FOR_REVIEW", _WAITING),
    (errors.SpendFailed, "FAILED", f"The payment failed. {_NOTHING}"),
    (errors.PurserUnavailable, "UNAVAILABLE", _AWAY),
    (errors.SpendUncertain, "UNCERTAIN", _UNCERTAIN),
    (errors.SpendUnfinished, "UNCERTAIN", _UNFINISHED),
)
_PAID = "This was paid before, under the same name. Do not buy it again."


class _Leave(Exception):
    """Ends the spend of a hook where it would pay: what becomes of it is for others to report."""


def as_text(refusal: Refusal) -> str:
    """As the model reads it."""
    return json.dumps(refusal)


def refusal_of(
    error: BaseException | None, has_begun: bool, options: GuardToolOptions, paid: Decision | None = None
) -> Refusal:
    """The refusal for an error of `spend`; without one the decision was paid before."""
    status, told = "REFUSED", f"The spend could not be requested. {_NOTHING}"
    if error is None:
        status, told = "ALREADY_PAID", _PAID
    elif has_begun and not isinstance(error, errors.SpendFailed):
        status, told = "UNCERTAIN", _UNCERTAIN
    else:
        for kind, name, sentence in _TOLD:
            if isinstance(error, kind):
                status, told = name, sentence
    decision: Any = paid or getattr(error, "decision", None) or {}
    if isinstance(error, errors.SpendDenied):
        told = f"{told} ({decision.get('reason_code')})"
    if isinstance(error, errors.InvalidRequestError):
        # What the service says of a wrong field the model can mend.
        told = f"{told} {error}"
    refusal = Refusal(status=status, reason=told, decision_id=decision.get("decision_id"))
    on_refusal = options.get("on_refusal")
    try:
        given: object = None if on_refusal is None else on_refusal(refusal, error)
        if inspect.iscoroutine(given):
            given.close()
    except Exception:
        # A log that fails changes no answer.
        pass
    return refusal


def _sync(purser: AnyPurser) -> Purser:
    if isinstance(purser, Purser):
        return purser
    raise TypeError("An agent that is not run with await needs a guard with Purser, not AsyncPurser")


def _spend_options(options: GuardToolOptions) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in ("on_refusal", "payment_of")}


async def _request_of(to_spend: ToSpend, arguments: Mapping[str, Any], call_id: str | None) -> SpendRequest:
    given = to_spend(dict(arguments), call_id)
    return await given if inspect.isawaitable(given) else given


def _sync_request_of(to_spend: ToSpend, arguments: Mapping[str, Any], call_id: str | None) -> SpendRequest:
    given = to_spend(dict(arguments), call_id)
    if inspect.iscoroutine(given):
        given.close()
        raise TypeError("to_spend is async: give the guard an AsyncPurser")
    return cast("SpendRequest", given)


def run_sync(
    purser: AnyPurser,
    to_spend: ToSpend,
    arguments: Mapping[str, Any],
    call_id: str | None,
    tool: Callable[[Grant], T],
    options: GuardToolOptions,
) -> T | Refusal:
    """Asks, waits, runs the tool at most once for each name, reports. Gives what the tool gave, or a refusal."""
    begun: list[T] = []
    has_begun = False

    def pay(grant: Grant) -> Mapping[str, Any]:
        nonlocal has_begun
        has_begun = True
        begun.append(tool(grant))
        payment_of = options.get("payment_of")
        return {} if payment_of is None else payment_of(begun[0])

    try:
        request = _sync_request_of(to_spend, arguments, call_id)
        spent = _sync(purser).spend(request, pay, **_spend_options(options))
        return begun[0] if begun else refusal_of(None, False, options, spent.decision)
    except Exception as error:
        return refusal_of(error, has_begun, options)


async def run_async(
    purser: AnyPurser,
    to_spend: ToSpend,
    arguments: Mapping[str, Any],
    call_id: str | None,
    tool: Callable[[Grant], Coroutine[Any, Any, T]],
    options: GuardToolOptions,
) -> T | Refusal:
    """As `run_sync`, for an async tool. A sync client asks in a thread, while the tool runs in this loop."""
    if isinstance(purser, Purser):
        loop = asyncio.get_running_loop()

        def run_here(grant: Grant) -> T:
            return asyncio.run_coroutine_threadsafe(tool(grant), loop).result()

        return await asyncio.to_thread(run_sync, purser, to_spend, arguments, call_id, run_here, options)
    begun: list[T] = []
    has_begun = False

    async def pay(grant: Grant) -> Mapping[str, Any]:
        nonlocal has_begun
        has_begun = True
        begun.append(await tool(grant))
        payment_of = options.get("payment_of")
        return {} if payment_of is None else payment_of(begun[0])

    try:
        request = await _request_of(to_spend, arguments, call_id)
        spent = await purser.spend(request, pay, **_spend_options(options))
        return begun[0] if begun else refusal_of(None, False, options, spent.decision)
    except Exception as error:
        return refusal_of(error, has_begun, options)


def _refuse_limitable(request: SpendRequest) -> SpendRequest:
    if request.get("limitable") is True:
        raise ValueError("limitable: a hook cannot lower an amount; omit it")
    return request


def _end_here(grant: Grant) -> None:
    raise _Leave(grant)


def _is_leave(error: Exception) -> bool:
    return isinstance(error, _Leave) or isinstance(error.__cause__, _Leave)


def _never(_: BaseException) -> bool:
    return False


def _hook_options(options: GuardOptions) -> dict[str, Any]:
    return {**_spend_options(cast("GuardToolOptions", options)), "is_definite_failure": _never}


def ask_sync(
    purser: AnyPurser,
    to_spend: ToSpend,
    arguments: Mapping[str, Any],
    call_id: str | None,
    options: GuardOptions,
) -> Refusal | None:
    """
    Asks for leave to run a tool that one does not own, once for each name; reports nothing. With `adapter` the
    capability is consumed here; without it the payment adapter behind the tool consumes it. None: it may run.
    """
    given = cast("GuardToolOptions", options)
    try:
        request = _refuse_limitable(_sync_request_of(to_spend, arguments, call_id))
        spent = _sync(purser).spend(request, _end_here, **_hook_options(options))
        return refusal_of(None, False, given, spent.decision)
    except Exception as error:
        return None if _is_leave(error) else refusal_of(error, False, given)


async def ask_async(
    purser: AnyPurser,
    to_spend: ToSpend,
    arguments: Mapping[str, Any],
    call_id: str | None,
    options: GuardOptions,
) -> Refusal | None:
    """As `ask_sync`. A sync client asks in a thread."""
    if isinstance(purser, Purser):
        return await asyncio.to_thread(ask_sync, purser, to_spend, arguments, call_id, options)
    given = cast("GuardToolOptions", options)
    try:
        request = _refuse_limitable(await _request_of(to_spend, arguments, call_id))
        spent = await purser.spend(request, _end_here, **_hook_options(options))
        return refusal_of(None, False, given, spent.decision)
    except Exception as error:
        return None if _is_leave(error) else refusal_of(error, False, given)
