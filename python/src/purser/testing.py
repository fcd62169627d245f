"""Purser in memory, for tests of code that spends. It answers decisions, reviews, capabilities and outcomes as the service does."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Literal, Union, cast

import httpx2

from ._shapes import MAX_AMOUNT, is_currency, is_object

if TYPE_CHECKING:
    from .types import Consumption, Decision, DecisionRequest, Outcome, RecordedReview

Verdict = Union[Literal["ALLOW", "REVIEW", "DENY"], Mapping[str, Any]]
"""A decision, or a mapping of `decision` and, where the test wants them, `reason_code`, `explanation`,
`authorized_amount_minor` and `mode`."""
Rule = Union[Verdict, Callable[["DecisionRequest"], Verdict]]
"""Decides new requests."""

_REASONS = {"ALLOW": "WITHIN_AUTHORITY", "REVIEW": "PURPOSE_UNCLEAR", "DENY": "MERCHANT_BLOCKED"}
_STATES = {"SPEND_EXECUTED": "EXECUTED", "SPEND_FAILED": "FAILED", "SPEND_CANCELLED": "CANCELLED"}
_REFUNDS = ("REFUNDED", "PARTIALLY_REFUNDED")
_WHO = {"key_id": "key_00000000000000000000000000", "principal_id": None}
_REVIEWER = {"key_id": "key_00000000000000000000000001", "principal_id": "user:reviewer"}
_FIELDS = ("action", "task", "trace", "limitable", "min_amount_minor", "agent", "context")
_KEY = re.compile(r"[!-~]{1,255}\Z")
#: Words of a card statement that name no merchant.
_NO_NAME = re.compile(r"(?:\W*\b(?:gmbh|inc|ltd|llc|ag|sa|bv|[0-9]+)\b\W*)+\Z")
_STATUS = {
    "invalid_request": 400,
    "unauthenticated": 401,
    "not_found": 404,
    "currency_mismatch": 422,
    "payee_mismatch": 422,
    "merchant_mismatch": 422,
    "amount_exceeds_authorized": 422,
}


class _Refused(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.status = _STATUS.get(code, 409)


@dataclass
class _Kept:
    """One decision as it is now, with its records."""

    decision: dict[str, Any]
    name: str
    request: str
    request_id: str
    first: str = ""
    outcomes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    consumed_as: tuple[str, str, dict[str, Any]] | None = None

    def state(self) -> tuple[object, object]:
        return self.decision["review_state"], self.decision["outcome_state"]


def _id(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex[:26].upper()}"


def _iso(seconds: float = 0) -> str:
    at = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _merchant_name(text: str) -> str:
    return _NO_NAME.sub("", text.rsplit("*", 1)[-1].casefold().strip())


class FakePurser:
    """Give `http_client` to `Purser`, `async_http_client` to `AsyncPurser`. Every request is allowed until `decide`."""

    def __init__(self, mode: Literal["SHADOW", "ENFORCE"], agent: str) -> None:
        self._mode = mode
        self._agent = agent
        self._rule: Rule = "ALLOW"
        self._kept: dict[str, _Kept] = {}
        self._consumed: list[Consumption] = []
        self._outcomes: list[Outcome] = []
        self._lock = threading.RLock()
        self.http_client = httpx2.Client(transport=httpx2.MockTransport(self._handle))
        self.async_http_client = httpx2.AsyncClient(transport=httpx2.MockTransport(self._handle_async))

    def decide(self, rule: Rule) -> None:
        """Decides new requests by this rule."""
        self._rule = rule

    def review(
        self, id: str, action: Literal["ALLOW", "DENY"], reason_code: str = "FAKE_REVIEW"
    ) -> RecordedReview:
        """Reviews a pending decision. Raises a `ValueError` where the service would refuse it."""
        try:
            with self._lock:
                answer = self._review(self._find(id), {"action": action, "reason_code": reason_code})
        except _Refused as refused:
            raise ValueError(f"{refused.code}: {refused}") from None
        return cast("RecordedReview", answer)

    @property
    def decisions(self) -> list[Decision]:
        """Decisions as they are now, oldest first."""
        with self._lock:
            return [cast("Decision", json.loads(json.dumps(kept.decision))) for kept in self._kept.values()]

    @property
    def consumed(self) -> list[Consumption]:
        """Capabilities that were consumed, oldest first."""
        return list(self._consumed)

    @property
    def outcomes(self) -> list[Outcome]:
        """Outcomes that were reported, oldest first."""
        return list(self._outcomes)

    def _handle(self, request: httpx2.Request) -> httpx2.Response:
        until = time.monotonic() + self._held(request)
        before = self._watched(request)
        while self._watched(request) == before and time.monotonic() < until:
            time.sleep(0.01)
        return self._answer(request)

    async def _handle_async(self, request: httpx2.Request) -> httpx2.Response:
        until = time.monotonic() + self._held(request)
        before = self._watched(request)
        while self._watched(request) == before and time.monotonic() < until:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        return self._answer(request)

    def _held(self, request: httpx2.Request) -> float:
        return float(request.url.params.get("wait_seconds", "0"))

    def _watched(self, request: httpx2.Request) -> object:
        kept = self._kept.get(request.url.path.rsplit("/", 1)[-1])
        return None if kept is None else kept.state()

    def _answer(self, request: httpx2.Request) -> httpx2.Response:
        request_id = request.headers.get("x-request-id", _id("req"))
        headers = {"x-request-id": request_id}
        try:
            with self._lock:
                status, body, more = self._route(request)
                # As a service would send it: nothing that the caller changes is changed in here.
                content = json.dumps(body)
        except _Refused as refused:
            error = {"code": refused.code, "message": str(refused), "request_id": request_id}
            return httpx2.Response(refused.status, json={"error": error}, headers=headers)
        return httpx2.Response(
            status, content=content, headers={**headers, **more, "content-type": "application/json"}
        )

    def _route(self, request: httpx2.Request) -> tuple[int, object, dict[str, str]]:
        if not request.headers.get("x-api-key"):
            raise _Refused("unauthenticated", "The key is missing.")
        content = request.read()
        body: Any = json.loads(content) if content else {}
        route = f"{request.method} {request.url.path}"
        if route == "POST /v1/decisions":
            return self._create(request, body)
        if route == "POST /v1/capabilities/consume":
            return self._consume(_key_of(request), body)
        found = re.fullmatch(r"(GET|POST) /v1/decisions/(\w+)(/reviews|/outcomes)?", route)
        if found is None or (found.group(1) == "POST") != (found.group(3) is not None):
            raise _Refused("not_found", "The fake has no such route.")
        kept = self._find(found.group(2))
        if found.group(3) is None:
            return 200, kept.decision, {}
        if found.group(3) == "/reviews":
            return 201, self._review(kept, body), {}
        return self._report(kept, body)

    def _find(self, decision_id: str) -> _Kept:
        kept = self._kept.get(decision_id)
        if kept is None:
            raise _Refused("not_found", "No such decision.")
        return kept

    def _create(self, request: httpx2.Request, body: object) -> tuple[int, object, dict[str, str]]:
        key = _key_of(request)
        given = _checked(body)
        slug = given.get("agent") or self._agent
        name, text = f"{slug} {key}", json.dumps(given, sort_keys=True)
        earlier = next((kept for kept in self._kept.values() if kept.name == name), None)
        if earlier is not None:
            if earlier.request != text:
                raise _Refused("idempotency_conflict", "The name was already used for a different request.")
            told = {"idempotent-replay": "true", "idempotent-replay-of": earlier.request_id}
            return 200, json.loads(earlier.first), told
        rule = self._rule
        verdict = rule(cast("DecisionRequest", given)) if callable(rule) else rule
        decision = self._decided(given, slug, {"decision": verdict} if isinstance(verdict, str) else verdict)
        kept = _Kept(decision, name, text, request.headers.get("x-request-id", ""))
        kept.first = json.dumps(decision)
        self._kept[decision["decision_id"]] = kept
        return 201, decision, {}

    def _decided(self, given: Mapping[str, Any], slug: str, verdict: Mapping[str, Any]) -> dict[str, Any]:
        action, kind = given["action"], verdict["decision"]
        mode = verdict.get("mode", self._mode)
        reason = verdict.get("reason_code", _REASONS[kind])
        requested = action["amount_minor"]
        authorized = verdict.get("authorized_amount_minor", requested) if kind == "ALLOW" else 0
        held = requested if kind == "REVIEW" else authorized
        decision: dict[str, Any] = {
            **{"decision_id": _id("dec"), "decision": kind, "mode": mode},
            "effective_decision": "ALLOW" if mode == "SHADOW" else kind,
            "review_state": "PENDING" if kind == "REVIEW" else None,
            **{"reason_code": reason, "reason_codes": [reason], "requested_amount_minor": requested},
            **{"authorized_amount_minor": authorized, "currency": action["currency"]},
            "explanation": verdict.get("explanation", f"The fake decided {kind}."),
            **{"policy_trace": [], "remedies": [], "authority_version": 1},
            "authority_hash": f"sha256:{'0' * 64}",
            "purpose": {"assessment": "PURPOSE_UNCLEAR" if kind == "REVIEW" else "PURPOSE_ALIGNED"},
            "reservation": {
                **{"reservation_id": _id("rsv") if held else None, "status": "HELD" if held else "NONE"},
                **{"amount_minor": held, "currency": action["currency"], "period": _iso()[:7]},
                "expires_at": _iso(86_400) if kind == "REVIEW" and mode == "ENFORCE" else None,
            },
            **{"capability": None, "agent": {"id": f"agt_{slug}", "slug": slug}, "action": action},
            **{"task": given.get("task"), "trace": given.get("trace")},
            **{"limitable": given.get("limitable", False), "context": given.get("context")},
            "min_amount_minor": given.get("min_amount_minor"),
            **{"review": None, "label": None, "outcome_state": "NONE", "verified": False},
            **{"created_at": _iso(), "requested_by": _WHO},
        }
        if mode == "ENFORCE" and kind == "ALLOW":
            decision["capability"] = _issued(decision)
        return decision

    def _review(self, kept: _Kept, body: Mapping[str, Any]) -> dict[str, Any]:
        decision, action = kept.decision, body["action"]
        if decision["decision"] != "REVIEW":
            raise _Refused("not_reviewable", "Only a REVIEW decision can be reviewed.")
        if decision["review_state"] != "PENDING":
            raise _Refused("review_final", "The review is final.")
        review: dict[str, Any] = {
            **{"review_id": _id("rev"), "decision_id": decision["decision_id"], "action": action},
            **{"reason_code": body["reason_code"], "comment": body.get("comment"), "supersedes": None},
            **{**_REVIEWER, "by_key_maker": False, "on_behalf_of": None, "questions": []},
            **{"remember": None, "created_at": _iso()},
        }
        decision["review"], decision["review_state"] = review, "ALLOWED" if action == "ALLOW" else "DENIED"
        if action == "ALLOW":
            decision["authorized_amount_minor"] = decision["requested_amount_minor"]
        if decision["mode"] == "ENFORCE":
            decision["effective_decision"] = action
            decision["capability"] = _issued(decision) if action == "ALLOW" else None
        return {**review, "effective_decision": decision["effective_decision"]}

    def _consume(self, key: str, body: Any) -> tuple[int, object, dict[str, str]]:
        text = json.dumps(body, sort_keys=True)
        for kept in self._kept.values():
            if kept.consumed_as is not None and kept.consumed_as[0] == key:
                if kept.consumed_as[1] != text:
                    raise _Refused("idempotency_conflict", "The name was used for a different request.")
                return 200, kept.consumed_as[2], {"idempotent-replay": "true"}
        for kept in self._kept.values():
            capability = kept.decision["capability"]
            if capability is not None and capability["token"] == body.get("token"):
                return 201, self._consumed_now(kept, capability, key, text, body), {}
        raise _Refused("not_found", "No such capability.")

    def _consumed_now(
        self, kept: _Kept, capability: dict[str, Any], key: str, text: str, body: Mapping[str, Any]
    ) -> dict[str, Any]:
        status = capability["status"]
        if status != "ISSUED":
            code = "capability_used" if status == "CONSUMED" else "capability_revoked"
            raise _Refused(code, f"The capability is {status}.")
        if body["currency"] != capability["currency"]:
            raise _Refused("currency_mismatch", "The capability is for another currency.")
        if body["amount_minor"] > capability["max_amount_minor"]:
            raise _Refused("amount_exceeds_authorized", "The capability is for less.")
        if body.get("payee_id") != capability["payee_id"]:
            raise _Refused("payee_mismatch", "The capability is for another payee.")
        merchant = body.get("merchant")
        if merchant is not None and _merchant_name(merchant) != _merchant_name(capability["merchant"]):
            raise _Refused("merchant_mismatch", "The capability is for another merchant.")
        at = _iso()
        capability.update({"status": "CONSUMED", "consumed_at": at})
        answer = {
            **{"capability_id": capability["capability_id"], "decision_id": kept.decision["decision_id"]},
            **{"agent": kept.decision["agent"], "status": "CONSUMED", "amount_minor": body["amount_minor"]},
            **{"currency": body["currency"], "payee_id": capability["payee_id"], "consumed_at": at},
        }
        kept.consumed_as = (key, text, answer)
        self._consumed.append(cast("Consumption", answer))
        return answer

    def _report(self, kept: _Kept, body: Mapping[str, Any]) -> tuple[int, object, dict[str, str]]:
        decision = kept.decision
        kind, source = body["type"], body.get("source", "CLIENT_REPORTED")
        if body.get("currency", decision["currency"]) != decision["currency"]:
            raise _Refused("currency_mismatch", "The currency differs.")
        amount, reference = body.get("amount_minor"), body.get("external_reference")
        if amount is None and kind in ("SPEND_EXECUTED", "PARTIALLY_REFUNDED"):
            raise _Refused("invalid_request", "amount_minor: is required")
        same = {"type": kind, "amount_minor": amount, "external_reference": reference, "source": source}
        for each in kept.outcomes:
            if all(each[name] == value for name, value in same.items()):
                return 200, each, {}
        refunded = sum(each["amount_minor"] for each in kept.outcomes if each["type"] in _REFUNDS)
        executed = max(
            (each["amount_minor"] for each in kept.outcomes if each["type"] == "SPEND_EXECUTED"), default=0
        )
        if kind in _REFUNDS:
            left = executed - refunded
            amount = left if amount is None else amount
            if executed == 0 or not 0 < amount <= left:
                raise _Refused("outcome_conflict", "The refunds would exceed the executed amount.")
            state = "REFUNDED" if amount == left else "PARTIALLY_REFUNDED"
        else:
            settled = next((each for each in kept.outcomes if each["type"] in _STATES), None)
            if settled is not None:
                raise _Refused("outcome_conflict", "Another outcome was reported before.")
            state = _STATES[kind]
        outcome: dict[str, Any] = {
            **{
                "outcome_id": _id("out"),
                "decision_id": decision["decision_id"],
                **same,
                "amount_minor": amount,
            },
            **{"currency": decision["currency"], "occurred_at": body.get("occurred_at") or _iso()},
            **{"reported_by": _WHO, "recorded_at": _iso(), "flags": []},
        }
        kept.outcomes.append(outcome)
        self._outcomes.append(cast("Outcome", outcome))
        decision["outcome_state"] = state
        decision["verified"] = all(each["source"] == "PAYMENT_RAIL" for each in kept.outcomes)
        if decision["capability"] is not None and decision["capability"]["status"] == "ISSUED":
            decision["capability"]["status"] = "REVOKED"
        return 201, outcome, {}


def fake_purser(*, mode: Literal["SHADOW", "ENFORCE"] = "ENFORCE", agent: str = "test-agent") -> FakePurser:
    """Makes a fake of the service: `mode` is of every agent, `agent` the slug where a request names none."""
    return FakePurser(mode, agent)


def _issued(decision: Mapping[str, Any]) -> dict[str, Any]:
    capability_id = _id("cap")
    return {
        **{"capability_id": capability_id, "token": f"{capability_id}.fake", "status": "ISSUED"},
        **{"max_amount_minor": decision["authorized_amount_minor"], "currency": decision["currency"]},
        **{"merchant": decision["action"]["merchant"], "payee_id": decision["action"].get("payee_id")},
        **{"issued_at": _iso(), "expires_at": _iso(900), "consumed_at": None},
    }


def _key_of(request: httpx2.Request) -> str:
    key = request.headers.get("idempotency-key", "")
    if not _KEY.match(key):
        raise _Refused("invalid_request", "idempotency-key: is required")
    return key


def _checked(body: object) -> dict[str, Any]:
    """Refuses, naming the field, what the service would refuse of a request's shape."""
    given = body if is_object(body) else {}
    action: Any = given.get("action")
    if not is_object(action):
        raise _Refused("invalid_request", "action: is required")
    for name in ("type", "merchant"):
        if not isinstance(action.get(name), str) or not action[name].strip():
            raise _Refused("invalid_request", f"action.{name}: is required")
    amount: Any = action.get("amount_minor")
    if not isinstance(amount, int) or isinstance(amount, bool) or not 1 <= amount <= MAX_AMOUNT:
        raise _Refused("invalid_request", "action.amount_minor: must be an integer from 1")
    if not is_currency(action.get("currency")):
        raise _Refused("invalid_request", "action.currency: must be an active ISO 4217 code")
    for name in given:
        if name not in _FIELDS:
            raise _Refused("invalid_request", f"{name}: is not a field of this request")
    return given
