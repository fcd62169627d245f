"""What code that spends sees of the service holds of the fake too: the same tests run against both."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from typing import Any, Literal

import httpx2
import pytest

from purser import APIError, AsyncPurser, Grant, InvalidRequestError, Purser
from purser.testing import fake_purser

from .conftest import ADMIN_KEY, AUTHORITY, openapi

REQUEST: Any = {
    "action": {
        "type": "purchase",
        "merchant": "Hetzner Online",
        "amount_minor": 5440,
        "currency": "EUR",
        "description": "A server for staging",
        "payee_id": "stripe:acct_1",
    }
}
Mode = Literal["SHADOW", "ENFORCE"]
Kind = Literal["ALLOW", "REVIEW", "DENY"]
LIMITS: dict[Kind, dict[str, int]] = {
    "ALLOW": {},
    "REVIEW": {"review_threshold_minor": 1},
    "DENY": {"per_transaction_limit_minor": 1},
}


class Stage:
    """The clients of three keys, and agents with a given answer."""

    asking: Callable[[Mode, Kind], Purser]
    adapter: Purser
    reviewer: Purser


def _real(url: str, http_client: httpx2.Client) -> Stage:
    admin = Purser(ADMIN_KEY, base_url=url, http_client=http_client)
    stage = Stage()
    counted = iter(range(1_000_000))

    def client(body: Any) -> Purser:
        return admin.with_options(api_key=admin.api_keys.create(body)["key"])

    def asking(mode: Mode, kind: Kind) -> Purser:
        slug = f"contract-{next(counted)}-{threading.get_ident()}"
        authority: Any = {**AUTHORITY, **LIMITS[kind]}
        agent = admin.agents.create({"slug": slug, "mode": mode, "authority": authority})
        return client({"name": slug, "agent_id": agent["id"]})

    stage.asking = asking
    stage.adapter = client({"name": "pays", "scopes": ["consume"]})
    stage.reviewer = client({"name": "ada", "scopes": ["review", "read"], "principal_id": "user:ada"})
    return stage


def _fake() -> Stage:
    fake = fake_purser()
    stage = Stage()

    def asking(mode: Mode, kind: Kind) -> Purser:
        fake.decide({"decision": kind, "mode": mode})
        return Purser("sk_test", http_client=fake.http_client)

    stage.asking = asking
    stage.adapter = stage.reviewer = Purser("sk_test", http_client=fake.http_client)
    return stage


@pytest.fixture(scope="module", params=["the service", "the fake"])
def stage(request: pytest.FixtureRequest) -> Iterator[Stage]:
    with httpx2.Client(trust_env=False) as http_client:
        is_fake = request.param == "the fake"
        yield _fake() if is_fake else _real(request.getfixturevalue("service_url"), http_client)


@pytest.fixture
def name() -> Callable[[], str]:
    import uuid

    return lambda: f"contract-{uuid.uuid4()}"


def code_of(call: Callable[[], object]) -> str:
    try:
        call()
    except APIError as error:
        return f"{error.status} {error.code}"
    return "no refusal"


def allowed(stage: Stage) -> tuple[Purser, Any, dict[str, Any]]:
    asking = stage.asking("ENFORCE", "ALLOW")
    decision: Any = asking.decisions.create(REQUEST)
    consumption = {
        **{"token": decision["capability"]["token"], "amount_minor": 5440, "currency": "EUR"},
        "payee_id": "stripe:acct_1",
    }
    return asking, decision, consumption


def test_one_name_makes_one_decision_and_tells_whose_it_was(stage: Stage, name: Callable[[], str]) -> None:
    asking, key = stage.asking("SHADOW", "ALLOW"), name()
    first = asking.request("POST", "/v1/decisions", body=REQUEST, idempotency_key=key, request_id="first")
    assert (first.status, first.replayed, first.headers.get("idempotent-replay-of")) == (201, False, None)
    again = asking.request("POST", "/v1/decisions", body=REQUEST, idempotency_key=key, request_id="other")
    assert (again.status, again.replayed, again.request_id) == (200, True, "other")
    assert again.headers["idempotent-replay-of"] == "first"
    assert again.data == first.data
    other: Any = {"action": {**REQUEST["action"], "amount_minor": 1}}
    assert code_of(lambda: asking.decisions.create(other, idempotency_key=key)) == "409 idempotency_conflict"


@pytest.mark.parametrize("mode", ["SHADOW", "ENFORCE"])
@pytest.mark.parametrize("kind", ["ALLOW", "REVIEW", "DENY"])
def test_a_verdict_and_what_is_in_force(stage: Stage, mode: Mode, kind: Kind) -> None:
    made = stage.asking(mode, kind).decisions.create(REQUEST)
    assert (made["decision"], made["mode"]) == (kind, mode)
    assert made["effective_decision"] == ("ALLOW" if mode == "SHADOW" else kind)
    assert made["review_state"] == ("PENDING" if kind == "REVIEW" else None)
    assert (made["requested_amount_minor"], made["outcome_state"]) == (5440, "NONE")
    assert made["authorized_amount_minor"] == (5440 if kind == "ALLOW" else 0)
    has_capability = mode == "ENFORCE" and kind == "ALLOW"
    assert (made["capability"] is not None) == has_capability
    document: Any = openapi()
    assert set(document["components"]["schemas"]["Decision"]["required"]) <= set(made)


@pytest.mark.parametrize(
    ("field", "body"),
    [
        ("action", {}),
        ("action.amount_minor", {"action": {**REQUEST["action"], "amount_minor": 0}}),
        ("action.amount_minor", {"action": {**REQUEST["action"], "amount_minor": 1.5}}),
        ("action.currency", {"action": {**REQUEST["action"], "currency": "eur"}}),
        ("action.merchant", {"action": {**REQUEST["action"], "merchant": " "}}),
        ("limit", {**REQUEST, "limit": 1}),
    ],
)
def test_the_wrong_field_is_named(stage: Stage, field: str, body: Any) -> None:
    with pytest.raises(InvalidRequestError) as caught:
        stage.asking("ENFORCE", "ALLOW").decisions.create(body)
    assert (caught.value.code, caught.value.field) == ("invalid_request", field)


def test_a_review_settles_what_waits_once(stage: Stage) -> None:
    asking = stage.asking("ENFORCE", "REVIEW")
    pending = asking.decisions.create(REQUEST)["decision_id"]
    review = stage.reviewer.decisions.review(pending, {"action": "ALLOW", "reason_code": "OK"})
    assert (review["action"], review["effective_decision"]) == ("ALLOW", "ALLOW")
    again = code_of(lambda: stage.reviewer.decisions.review(pending, {"action": "DENY", "reason_code": "NO"}))
    assert again == "409 review_final"
    now: Any = asking.decisions.retrieve(pending)
    assert (now["effective_decision"], now["review_state"]) == ("ALLOW", "ALLOWED")
    assert (now["authorized_amount_minor"], now["capability"]["status"]) == (5440, "ISSUED")
    denied = asking.decisions.create(REQUEST)["decision_id"]
    stage.reviewer.decisions.review(denied, {"action": "DENY", "reason_code": "NO"})
    after = asking.decisions.retrieve(denied)
    assert (after["effective_decision"], after["review_state"], after["capability"]) == (
        "DENY",
        "DENIED",
        None,
    )
    _, decision, _ = allowed(stage)
    body: Any = {"action": "DENY", "reason_code": "NO"}
    assert (
        code_of(lambda: stage.reviewer.decisions.review(decision["decision_id"], body))
        == "409 not_reviewable"
    )


def test_a_look_can_wait_for_the_review(stage: Stage) -> None:
    asking = stage.asking("ENFORCE", "REVIEW")
    pending = asking.decisions.create(REQUEST)["decision_id"]
    seen: list[str | None] = []
    look = threading.Thread(
        target=lambda: seen.append(asking.decisions.retrieve_changed(pending, 20)["review_state"])
    )
    look.start()
    stage.reviewer.decisions.review(pending, {"action": "ALLOW", "reason_code": "OK"})
    look.join()
    assert seen == ["ALLOWED"]


def test_a_capability_is_consumed_once(stage: Stage, name: Callable[[], str]) -> None:
    asking, decision, consumption = allowed(stage)
    key = name()
    consume = stage.adapter.capabilities.consume
    first = consume(consumption, idempotency_key=key)  # type: ignore[arg-type]
    assert (first["status"], first["decision_id"]) == ("CONSUMED", decision["decision_id"])
    assert consume(consumption, idempotency_key=key) == first  # type: ignore[arg-type]
    less: Any = {**consumption, "amount_minor": 1}
    assert code_of(lambda: consume(less, idempotency_key=key)) == "409 idempotency_conflict"
    used: Any = consumption
    assert code_of(lambda: consume(used, idempotency_key=name())) == "409 capability_used"
    now: Any = asking.decisions.retrieve(decision["decision_id"])
    assert now["capability"]["status"] == "CONSUMED"


@pytest.mark.parametrize(
    ("told", "other"),
    [
        ("404 not_found", {"token": "cap_forged"}),
        ("422 payee_mismatch", {"payee_id": "stripe:acct_2"}),
        ("422 merchant_mismatch", {"merchant": "Evil Corp"}),
        ("422 currency_mismatch", {"currency": "USD"}),
        ("422 amount_exceeds_authorized", {"amount_minor": 5441}),
        ("422 merchant_mismatch", {"merchant": "Hetzner Online Refunds"}),
        ("no refusal", {"merchant": "HETZNER ONLINE", "amount_minor": 1}),
        ("no refusal", {"merchant": "HETZNER ONLINE GMBH 0123"}),
        ("no refusal", {"merchant": "PAYPAL *HETZNER ONLINE 4029357733"}),
    ],
)
def test_what_a_capability_covers(
    stage: Stage, name: Callable[[], str], told: str, other: dict[str, Any]
) -> None:
    _, _, consumption = allowed(stage)
    body: Any = {**consumption, **other}
    assert code_of(lambda: stage.adapter.capabilities.consume(body, idempotency_key=name())) == told


@pytest.mark.parametrize(
    ("kind", "state"),
    [("SPEND_EXECUTED", "EXECUTED"), ("SPEND_FAILED", "FAILED"), ("SPEND_CANCELLED", "CANCELLED")],
)
def test_an_outcome_is_recorded_once_and_ends_the_capability(
    stage: Stage, name: Callable[[], str], kind: str, state: str
) -> None:
    asking, decision, consumption = allowed(stage)
    body: Any = {"type": kind, "amount_minor": 5440, "external_reference": "pi_1"}
    first = asking.decisions.report_outcome(decision["decision_id"], body)
    assert asking.decisions.report_outcome(decision["decision_id"], body) == first
    now: Any = asking.decisions.retrieve(decision["decision_id"])
    assert (now["outcome_state"], now["capability"]["status"]) == (state, "REVOKED")
    used: Any = consumption
    consume = stage.adapter.capabilities.consume
    assert code_of(lambda: consume(used, idempotency_key=name())) == "409 capability_revoked"
    contrary: Any = {**body, "type": "SPEND_EXECUTED" if kind == "SPEND_FAILED" else "SPEND_FAILED"}
    report = asking.decisions.report_outcome
    assert code_of(lambda: report(decision["decision_id"], contrary)) == "409 outcome_conflict"


def test_refunds_need_a_payment_and_give_back_no_more_than_it(stage: Stage) -> None:
    asking, decision, _ = allowed(stage)

    def report(**body: Any) -> Any:
        given: Any = body
        return asking.decisions.report_outcome(decision["decision_id"], given)

    assert code_of(lambda: report(type="REFUNDED")) == "409 outcome_conflict"
    assert code_of(lambda: report(type="SPEND_EXECUTED")) == "400 invalid_request"
    wrong = code_of(lambda: report(type="SPEND_EXECUTED", amount_minor=1, currency="USD"))
    assert wrong == "422 currency_mismatch"
    report(type="SPEND_EXECUTED", amount_minor=5000)
    report(type="PARTIALLY_REFUNDED", amount_minor=1000, external_reference="re_1")
    assert asking.decisions.retrieve(decision["decision_id"])["outcome_state"] == "PARTIALLY_REFUNDED"
    assert code_of(lambda: report(type="PARTIALLY_REFUNDED", amount_minor=4001)) == "409 outcome_conflict"
    assert report(type="REFUNDED")["amount_minor"] == 4000
    assert asking.decisions.retrieve(decision["decision_id"])["outcome_state"] == "REFUNDED"


def test_a_spend_asks_consumes_pays_and_reports(stage: Stage, name: Callable[[], str]) -> None:
    asking = stage.asking("ENFORCE", "ALLOW")
    request: Any = {**REQUEST, "idempotency_key": name()}
    spent = asking.spend(
        request, lambda grant: {"external_reference": grant.payment_key}, adapter=stage.adapter
    )
    assert (spent.status, spent.outcome and spent.outcome["source"]) == ("paid", "PAYMENT_RAIL")
    assert spent.payment == {"external_reference": spent.outcome and spent.outcome["external_reference"]}

    def twice(_: object) -> None:
        raise AssertionError("paid twice")

    again = asking.spend(request, twice, adapter=stage.adapter)
    assert (again.status, again.payment) == ("already_paid", None)


def test_what_is_not_there_is_404_and_the_fake_says_what_it_has_not() -> None:
    fake = fake_purser()
    purser = Purser("sk_test", http_client=fake.http_client)
    assert code_of(lambda: purser.decisions.retrieve("dec_0")) == "404 not_found"
    assert code_of(lambda: purser.workspace.retrieve()) == "404 not_found"
    with pytest.raises(ValueError, match="not_found"):
        fake.review("dec_0", "ALLOW")
    bare = httpx2.Request("GET", "http://127.0.0.1/v1/decisions/dec_0")
    assert fake.http_client.send(bare).status_code == 401


def test_the_fake_serves_async_clients_and_shows_its_records() -> None:
    fake = fake_purser(agent="bot")
    fake.decide(lambda request: "REVIEW" if request["action"]["amount_minor"] > 10_000 else "ALLOW")

    async def answer(request: httpx2.Request) -> httpx2.Response:
        """The fake's answer; once a look is under way, a person reviews."""
        answering = asyncio.ensure_future(fake._handle_async(request))
        await asyncio.sleep(0)
        if request.method == "GET":
            fake.review(fake.decisions[0]["decision_id"], "ALLOW")
        return await answering

    async def spend(amount: int) -> str:
        http_client = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        purser = AsyncPurser("sk_test", http_client=http_client)
        adapter = AsyncPurser("sk_test", http_client=fake.async_http_client)
        action = {**REQUEST["action"], "amount_minor": amount}
        request: Any = {"action": action, "idempotency_key": f"a{amount}"}

        def pay(_: Grant) -> dict[str, str]:
            return {"external_reference": "pi"}

        return (await purser.spend(request, pay, adapter=adapter, wait_for_review=20)).status

    assert asyncio.run(spend(20_000)) == "paid"
    assert [each["outcome_state"] for each in fake.decisions] == ["EXECUTED"]
    assert [each["amount_minor"] for each in fake.consumed] == [20_000]
    assert [each["external_reference"] for each in fake.outcomes] == ["pi"]
