from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from . import _io
from ._core import Core
from ._errors import APIConnectionError, APIError, InvalidRequestError, SpendPending
from ._io import Bell, Sleep, Work
from ._transport import Answer, Call, CallOptions, jittered

if TYPE_CHECKING:
    from .types import Decision

#: Seconds that the service may be asked to hold one look back.
_MAX_HELD_BACK = 25
#: Between looks that are answered at once: 1, 2, 4, 8, 15, 15 … seconds.
_FIRST_PAUSE = 1.0
_MAX_PAUSE = 15.0

#: Waiting callers in this process, by decision.
_waiting: dict[str, set[Bell]] = {}
_lock = threading.Lock()


def wake(event: Mapping[str, Any]) -> None:
    """Wakes whoever waits for the decision of this event. Raises a `TypeError` when it is no event."""
    if not isinstance(event, Mapping) or not isinstance(event.get("data"), Mapping):
        raise TypeError("notify takes the event returned by webhooks.unwrap")
    with _lock:
        bells = list(_waiting.get(str(event["data"].get("decision_id")), ()))
    for bell in bells:
        bell.ring()


def is_pending(decision: Decision) -> bool:
    """True if a person is still to say something that counts."""
    return decision["effective_decision"] == "REVIEW" and decision["review_state"] != "EXPIRED"


def retrieve(core: Core, decision_id: str, options: CallOptions, held: int = 0) -> Work[Decision]:
    """The decision as it stands now, or once it has changed or `held` seconds have passed."""
    call = Call(
        "GET",
        "/v1/decisions/:id",
        options,
        params={"id": decision_id},
        query={"wait_seconds": held} if held > 0 else {},
        shape="decision",
        extra=held,
    )
    answer: Answer = yield from core.send(call)
    return cast("Decision", answer.data)


def wait_for_review(core: Core, pending: Decision, wait: float) -> Work[Decision]:
    """
    The decision once its review is settled: allowed, denied, or run out. Looks for up to `wait` seconds, also through
    failures of the service; then raises `SpendPending`.
    """
    decision_id = pending["decision_id"]
    bell = Bell()
    with _lock:
        _waiting.setdefault(decision_id, set()).add(bell)
    try:
        return (yield from _look_until(core, pending, wait, bell))
    finally:
        with _lock:
            others = _waiting[decision_id]
            others.discard(bell)
            if not others:
                del _waiting[decision_id]


def _look_until(core: Core, pending: Decision, wait: float, bell: Bell) -> Work[Decision]:
    until = _io.now() + wait
    latest = pending
    pauses = 0
    while wait > 0:
        begun = _io.now()
        left = until - begun
        is_last = left <= 0
        is_due = bell.rung.is_set()
        at_once = is_due or is_last or not core.settings.holds_looks
        held = 0 if at_once else int(min(_MAX_HELD_BACK, left))
        # The decision has just been seen: there is nothing to look for yet.
        is_fresh = held == 0 and pauses == 0 and not is_due and not is_last
        bell.rung.clear()
        found = latest if is_fresh else (yield from _look(core, pending["decision_id"], held))
        if found is not None:
            latest = found
        if not is_pending(latest):
            return latest
        if is_last:
            break
        was_held = found is not None and held > 0 and _io.now() - begun >= _FIRST_PAUSE
        if bell.rung.is_set() or was_held:
            continue
        pause = jittered(min(_MAX_PAUSE, _FIRST_PAUSE * 2**pauses))
        pauses += 1
        yield Sleep(max(0.0, min(pause, until - _io.now())), bell)
    raise SpendPending("It is waiting for a review", latest)


def _look(core: Core, decision_id: str, held: int) -> Work[Decision | None]:
    """The decision, or None when it cannot be had right now. Raises where asking again is of no use."""
    try:
        found = yield from retrieve(core, decision_id, {"max_retries": 0}, held)
    except InvalidRequestError:
        if held == 0:
            raise
        core.settings.holds_looks = False
        return None
    except APIError as error:
        if not error.retryable:
            raise
        return None
    except APIConnectionError:
        return None
    return found if found["decision_id"] == decision_id else None
