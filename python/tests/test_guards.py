"""`guarded` and what every guard says to a model; the frameworks' own guards are tested in their frameworks."""

from __future__ import annotations

import asyncio
import inspect
import typing
from typing import Any

import httpx2
import pytest

from purser import AsyncPurser, Grant, PaymentFailed, Purser
from purser.guards import Refusal, guarded
from purser.testing import FakePurser, fake_purser

from .test_spend import address, async_client, client


def to_spend(arguments: dict[str, Any], call_id: str | None) -> Any:
    action = {"type": "purchase", "merchant": arguments["merchant"], "currency": "EUR"}
    return {
        "idempotency_key": arguments["invoice"],
        "action": {**action, "amount_minor": arguments["amount_minor"]},
    }


async def to_spend_async(arguments: dict[str, Any], call_id: str | None) -> Any:
    return to_spend(arguments, call_id)


def test_a_guarded_tool_pays_once_with_its_grant_and_keeps_its_face() -> None:
    fake = fake_purser()
    purser = client(fake)
    grants: list[Grant] = []

    @guarded(purser, to_spend, adapter=purser, payment_of=lambda result: {"external_reference": result})
    def buy(invoice: str, merchant: str, amount_minor: int = 5440, *, grant: Grant) -> str:
        """Buys something."""
        grants.append(grant)
        return f"paid {invoice}"

    assert buy("INV-1", merchant="Hetzner") == "paid INV-1"
    assert (grants[0].amount_minor, fake.outcomes[0]["external_reference"]) == (5440, "paid INV-1")
    again: Refusal = buy("INV-1", merchant="Hetzner")
    assert (again["status"], len(grants)) == ("ALREADY_PAID", 1)
    assert again["decision_id"] == fake.decisions[0]["decision_id"]
    assert list(inspect.signature(buy).parameters) == ["invoice", "merchant", "amount_minor"]
    assert set(typing.get_type_hints(buy)) == {"invoice", "merchant", "amount_minor", "return"}
    assert (buy.__name__, buy.__doc__) == ("buy", "Buys something.")
    assert not inspect.iscoroutinefunction(buy)


@pytest.mark.parametrize("kind", ["sync client", "async client"])
def test_a_guarded_async_tool_stays_async_in_its_own_event_loop(kind: str) -> None:
    fake = fake_purser()
    loops: list[object] = []

    async def call() -> object:
        guard_with: Any = client(fake) if kind == "sync client" else async_client(fake)
        spend: Any = to_spend if kind == "sync client" else to_spend_async

        @guarded(guard_with, spend, adapter=guard_with)
        async def buy(invoice: str, merchant: str, amount_minor: int) -> str:
            loops.append(asyncio.get_running_loop())
            return "paid"

        assert inspect.iscoroutinefunction(buy)
        given = await buy("INV-1", "Hetzner", 5440)
        loops.append(asyncio.get_running_loop())
        return given

    assert asyncio.run(call()) == "paid"
    assert loops[0] is loops[1]


def _ending(fake: FakePurser, error: Exception | None = None, **options: Any) -> Refusal:
    purser = client(fake)

    def buy(invoice: str, merchant: str, amount_minor: int) -> str:
        if error is not None:
            raise error
        return "paid"

    given: Refusal = guarded(purser, to_spend, **options)(buy)("INV-1", "Hetzner", 5440)
    return given


def test_every_refusal_says_what_the_model_may_do_and_shows_no_limit() -> None:
    told: list[tuple[Refusal, BaseException | None]] = []

    def note(refusal: Refusal, error: BaseException | None) -> None:
        told.append((refusal, error))
        raise RuntimeError("a log that fails")

    for verdict, status in (("DENY", "DENIED"), ("REVIEW", "WAITING_FOR_REVIEW")):
        fake = fake_purser()
        fake.decide({"decision": verdict, "explanation": "Over 100 EUR."})
        refusal = _ending(fake, on_refusal=note)
        assert refusal["status"] == status
        assert refusal["decision_id"] == fake.decisions[0]["decision_id"]
        assert "100" not in refusal["reason"]
    assert _ending(fake_purser(), PaymentFailed("no"), on_refusal=note)["status"] == "FAILED"
    assert _ending(fake_purser(), RuntimeError("broken"), on_refusal=note)["status"] == "UNCERTAIN"
    assert [refusal["status"] for refusal, _ in told] == [
        *["DENIED", "WAITING_FOR_REVIEW", "FAILED", "UNCERTAIN"],
    ]
    assert all(error is not None for _, error in told)


def test_with_purser_away_and_with_a_spend_that_cannot_be_described_the_tool_does_not_run() -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("away")

    http_client = httpx2.Client(transport=httpx2.MockTransport(answer))
    purser = Purser("sk_test", base_url=address(), http_client=http_client, max_retries=0)

    def buy(invoice: str, merchant: str, amount_minor: int) -> str:
        raise AssertionError("it ran")

    def broken(arguments: dict[str, Any], call_id: str | None) -> Any:
        raise RuntimeError("broken")

    assert guarded(purser, to_spend)(buy)("INV-1", "Hetzner", 5440)["status"] == "UNAVAILABLE"
    wrong: Any
    for wrong in (broken, to_spend_async, lambda *_: None):
        assert guarded(purser, wrong)(buy)("INV-1", "Hetzner", 5440)["status"] == "REFUSED"
    assert guarded(purser, to_spend)(buy)("INV-1")["status"] == "REFUSED"


def test_a_wrong_field_is_told_because_the_model_can_mend_it() -> None:
    purser = client(fake_purser())

    @guarded(purser, to_spend)
    def buy(invoice: str, merchant: str, amount_minor: int) -> str:
        raise AssertionError("it ran")

    assert "action.amount_minor: must be" in buy("INV-1", "Hetzner", 0)["reason"]


def test_a_sync_tool_cannot_be_guarded_by_an_async_client() -> None:
    with pytest.raises(TypeError, match="tool is sync"):
        guarded(AsyncPurser("sk_test"), to_spend)(lambda: None)
