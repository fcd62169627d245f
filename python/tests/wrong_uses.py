"""Uses that a type checker must refuse. It is not run: mypy and pyright fail where one of the comments is not needed."""

from __future__ import annotations

from purser import AsyncPurser, Grant, Purser, types

purser = Purser("sk_test")
async_purser = AsyncPurser("sk_test")


def pay(grant: Grant) -> dict[str, str]:
    return {"external_reference": grant.payment_key}


action: types.Action = {"type": "purchase", "merchant": "Hetzner", "amount_minor": 5440, "currency": "EUR"}

Purser("sk_test", http_client=async_purser)  # type: ignore[arg-type]
purser.decisions.create({"action": {**action, "amount_minor": "5440"}})  # type: ignore[typeddict-item]
purser.decisions.create({"actions": action})  # type: ignore[typeddict-item, typeddict-unknown-key]
purser.decisions.list(decision="ALLOWED")  # type: ignore[arg-type]
purser.decisions.list(before="2026-11-01")  # type: ignore[call-arg]
purser.capabilities.consume({"token": "a", "amount_minor": 1, "currency": "EUR"})  # type: ignore[call-arg]
purser.spend({"action": action}, pay)  # type: ignore[typeddict-item]
purser.spend({"idempotency_key": "a", "action": action}, pay, adapter=async_purser)  # type: ignore[arg-type]
purser.spend({"idempotency_key": "a", "action": action}, pay, on_unavailable="pay")  # type: ignore[arg-type]
purser.spend({"idempotency_key": "a", "action": action}, pay, adaptor=purser)  # type: ignore[call-arg]
purser.agents.create({"slug": "bot", "mode": "LIVE"})  # type: ignore[typeddict-item]
with purser.decisions.export():  # type: ignore[call-arg]
    pass
