from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from . import _io
from ._core import Core
from ._errors import (
    APIConnectionError,
    APIError,
    PurserError,
    PurserUnavailable,
    SpendDenied,
    SpendFailed,
    SpendPending,
    SpendUnfinished,
)
from ._io import Work
from ._memory import MEMORY, SpendCall
from ._options import check_seconds, check_text
from ._review import is_pending, retrieve, wait_for_review
from ._shapes import is_mapping
from ._transport import Answer, Call, fresh_id

if TYPE_CHECKING:
    from .types import Capability, Decision, SpendRequest

_MAX_AGE_OF_SHADOW = 3_600.0


@dataclass(frozen=True)
class Authorization:
    """Leave to make a spend."""

    decision: Decision = field(repr=False)
    #: In ENFORCE: what the payment adapter consumes. Its token is a secret.
    capability: Capability | None = field(repr=False)
    #: The amount that may be paid: less than requested if the request was `limitable`.
    amount_minor: int
    #: True if this name was asked for before. In SHADOW somebody may have paid then.
    replayed: bool
    #: True if this call made the decision, also where its first answer was lost. Of all calls under one name, one did.
    mine: bool


@dataclass(frozen=True)
class Asked:
    """The result of a request."""

    decision: Decision
    #: True if the decision was made by this call: of all calls under one name, exactly one made it.
    mine: bool
    replayed: bool


def as_resumable_call(
    name: str, has_begun: Callable[[], bool], work: Callable[[SpendCall], Work[Any]]
) -> Work[Any]:
    """
    Runs `work` as a call that no other has the id of. When it ends with the spend still open, and has paid nothing
    (`has_begun`), the next call with that name in this process continues it: whatever was granted to the ended call is
    granted to that one. Of several that ended, the one that made the decision is continued.
    """
    with MEMORY.lock:
        call = MEMORY.resumable.pop(name) or SpendCall(fresh_id())
    try:
        return (yield from work(call))
    except BaseException as error:
        # What is no `Exception` ends the caller, and says nothing about the spend.
        is_open = isinstance(error, (PurserUnavailable, SpendPending)) or not isinstance(error, Exception)
        if is_open and not has_begun():
            with MEMORY.lock:
                kept = MEMORY.resumable.get(name)
                if kept is None or not kept.made_decision:
                    MEMORY.resumable.set(name, call)
        raise


def check_spend_request(request: object) -> None:
    """Raises a `TypeError` or `ValueError` for what no service has to be asked about."""
    if not is_mapping(request):
        raise TypeError("request must be a mapping with idempotency_key and action")
    if "idempotency_key" not in request:
        raise ValueError("idempotency_key is missing: the name of this spend, such as its order number")
    check_text("idempotency_key", request["idempotency_key"])
    if not isinstance(request.get("action"), Mapping):
        raise TypeError("action must be a mapping with the payment and its merchant")


def check_wait(wait_for_review: object) -> float:
    return check_seconds("wait_for_review", wait_for_review, least=0)


def is_unavailable(error: BaseException) -> bool:
    """True if the service could not be asked, and nothing else is known."""
    return isinstance(error, APIConnectionError) or (isinstance(error, APIError) and error.status >= 500)


def as_unavailable(error: PurserError, meanwhile: str) -> PurserError:
    """As `PurserUnavailable` where the service could not be asked; any other error as it is."""
    if not is_unavailable(error):
        return error
    down = PurserUnavailable(
        f"Purser cannot be reached, so {meanwhile}: {error}",
        request_id=error.request_id,
        idempotency_key=error.idempotency_key,
    )
    down.__cause__ = error
    return down


def agent_of(request: Mapping[str, Any]) -> str:
    return str(request.get("agent") or "")


def was_in_shadow(core: Core, request: Mapping[str, Any]) -> bool:
    """True if this process saw the agent of the request in SHADOW within the hour."""
    with MEMORY.lock:
        last = MEMORY.seen.get(core.settings.name_of(agent_of(request)))
    return last is not None and last[0] and _io.now() - last[1] <= _MAX_AGE_OF_SHADOW


def ask(core: Core, call_id: str, request: SpendRequest) -> Work[Asked]:
    """Asks for a decision, once: raises as `decisions.create` does, and when the answer is no decision of this request."""
    body = {name: value for name, value in request.items() if name != "idempotency_key"}
    key = request["idempotency_key"]
    allowance = body.get("allowance")
    if isinstance(allowance, str) and "." in allowance:
        # A signed allowance is presented, and the same JWT always gives the same id.
        presented: Answer = yield from core.send(
            Call(
                "POST",
                "/v1/allowances/present",
                {"request_id": call_id},
                body={"signed": allowance},
                repeatable=True,
                shape="allowance",
            )
        )
        body = {**body, "allowance": presented.data["id"]}
    call = Call(
        "POST",
        "/v1/decisions",
        {"idempotency_key": key, "request_id": call_id},
        body=body,
        keyed="call",
        shape="decision",
    )
    answer: Answer = yield from core.send(call)
    decision = cast("Decision", answer.data)
    if not _is_decision_of(decision, request):
        raise APIConnectionError(
            "The response is not a decision of this request: the server is not Purser",
            request_id=call_id,
            idempotency_key=key,
        )
    agent: object = answer.data.get("agent")
    named: list[object] = [agent.get("id"), agent.get("slug")] if is_mapping(agent) else []
    for each in [agent_of(request), *named]:
        if isinstance(each, str):
            with MEMORY.lock:
                MEMORY.seen.set(core.settings.name_of(each), (decision["mode"] == "SHADOW", _io.now()))
    replayed = answer.status != 201
    mine = not replayed or answer.headers.get("idempotent-replay-of") == call_id
    return Asked(decision, mine, replayed)


def _is_decision_of(decision: Decision, request: Mapping[str, Any]) -> bool:
    """True if the decision answers this request and allows no more than it asks for."""
    action = request["action"]
    amount = action.get("amount_minor")
    return bool(
        decision["currency"] == action.get("currency")
        and decision["requested_amount_minor"] == amount
        and decision["authorized_amount_minor"] <= amount
    )


def until_allowed(core: Core, asked: Asked, request: SpendRequest, wait: float) -> Work[Decision]:
    """
    The decision as it stands now, allowed or paid already; waits for its review. Raises the `SpendError` that says why
    not, and `PurserUnavailable`.
    """
    decision_id = asked.decision["decision_id"]
    current = asked.decision
    if asked.replayed:
        # A replay is what was answered at first.
        try:
            current = yield from retrieve(core, decision_id, {})
        except PurserError as error:
            raise as_unavailable(error, "nothing was paid") from cause_of(error)
    if is_pending(current):
        current = yield from wait_for_review(core, current, wait)
    if current["decision_id"] != decision_id or not _is_decision_of(current, request):
        cause = APIConnectionError("The response is not a decision of this request")
        raise as_unavailable(cause, "nothing was paid")
    if is_paid(current):
        return current
    if current["outcome_state"] != "NONE":
        was = "failed" if current["outcome_state"] == "FAILED" else "was cancelled"
        raise SpendFailed(f"This spend {was} before; try again under a new idempotency_key", current)
    if current["effective_decision"] != "ALLOW":
        expired = current["review_state"] == "EXPIRED"
        why = "Nobody reviewed it in time" if expired else str(current.get("explanation"))
        raise SpendDenied(why, current)
    return current


def is_paid(decision: Decision) -> bool:
    """True if an outcome says that the money moved, given back since or not."""
    return decision["outcome_state"] in ("EXECUTED", "PARTIALLY_REFUNDED", "REFUNDED")


def payable_of(decision: Decision) -> int:
    """The payable amount. SHADOW stops nothing: a would-be refusal is paid as requested."""
    authorized = decision["authorized_amount_minor"]
    if authorized == 0 and decision["mode"] == "SHADOW":
        return decision["requested_amount_minor"]
    return authorized


def authorize(core: Core, request: SpendRequest, wait: float) -> Work[Authorization]:
    """See `Purser.authorize`."""
    check_spend_request(request)
    wait = check_wait(wait)
    try:
        asked = yield from ask(core, fresh_id(), request)
    except PurserError as error:
        raise as_unavailable(error, "the spend may not be made") from cause_of(error)
    decision = yield from until_allowed(core, asked, request, wait)
    if is_paid(decision):
        raise SpendUnfinished("This spend was paid before", decision)
    return Authorization(decision, decision["capability"], payable_of(decision), asked.replayed, asked.mine)


def cause_of(error: PurserError) -> BaseException | None:
    """What the error to raise names as its cause: the error itself where it becomes another one."""
    return error if is_unavailable(error) else error.__cause__
