"""Ten purchases, of which four are wrong: those of agents/tests/ten-purchases.ts, for every framework."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

from purser import AsyncPurser, Purser
from tests.conftest import ADMIN_KEY

Order = dict[str, Any]
#: Whose account is whose: the customer's own records, which no model writes.
ACCOUNTS = {
    **{"Hetzner Online": "DE01", "Backblaze": "US02", "Grafana": "SE03"},
    **{"Evil Hosting": "XX66", "Amazon": "LU04"},
}
AUTHORITY: Any = {
    "purpose": {
        "objective": "Keep the staging platform running: servers, storage, monitoring.",
        "constraints": ["No gift cards."],
    },
    **{"currency": "EUR", "per_transaction_limit_minor": 20_000, "review_threshold_minor": 8_000},
    **{"monthly_budget_minor": 150_000, "blocked_merchants": ["Evil Hosting"]},
    "allowed_merchants": ["Hetzner Online", "Backblaze", "Grafana"],
}


def _buy(
    number: int, merchant: str, amount: int, text: str, wrong: str | None = None, account: str | None = None
) -> tuple[Order, str | None]:
    order = {
        **{"invoice": f"INV-{number}", "merchant": merchant, "amount_minor": amount},
        **{"account": account or ACCOUNTS[merchant], "description": text},
    }
    return order, wrong


PURCHASES = [
    _buy(1, "Hetzner Online", 5_440, "A server for the staging platform"),
    _buy(2, "Backblaze", 1_200, "Storage for backups of the staging platform"),
    _buy(3, "Hetzner Online", 25_000, "A larger server for the staging platform", "over the limit"),
    _buy(4, "Grafana", 2_900, "Monitoring of the staging platform"),
    _buy(5, "Evil Hosting", 900, "A server for the staging platform", "blocked merchant"),
    _buy(6, "Hetzner Online", 12_000, "Three servers for the staging platform"),
    _buy(7, "Amazon", 5_000, "Gift cards", "prohibited"),
    _buy(8, "Backblaze", 1_300, "More storage for backups of the staging platform"),
    _buy(9, "Backblaze", 1_400, "Storage for the staging platform", "another payee", "XX99"),
    _buy(10, "Grafana", 3_100, "Monitoring of the servers of the staging platform"),
]
RIGHT = [order for order, wrong in PURCHASES if wrong is None]


def to_spend(arguments: dict[str, Any], call_id: str | None) -> Any:
    """The spend of an order; the payee comes from the customer's own records."""
    merchant = arguments["merchant"]
    return {
        "idempotency_key": arguments["invoice"],
        "task": "Keep the staging platform running",
        "action": {
            **{"type": "purchase", "merchant": merchant, "amount_minor": arguments["amount_minor"]},
            **{"currency": "EUR", "description": arguments["description"]},
            "payee_id": f"bank:{ACCOUNTS[merchant]}",
        },
    }


class Conversation:
    """One scripted conversation: the model's next purchase, and the tool itself."""

    def __init__(self, purser: Purser, guard_with: Any, spend: Any, orders: list[Order]) -> None:
        self.purser = purser
        #: The client of the guard: sync or async.
        self.guard_with = guard_with
        self.to_spend = spend
        self.left = list(orders)
        self.ran: list[str] = []
        self.told: list[str] = []
        self.current: Order | None = None
        self.asked_twice: set[str] = set()
        self.review: Callable[[], None] = lambda: None
        self.pay: Callable[[str, Order], str] = lambda token, order: "paid"

    def buy(self, invoice: str, merchant: str, amount_minor: int, account: str, description: str) -> str:
        """Buys something and gives what became of it."""
        order = {
            **{"invoice": invoice, "merchant": merchant, "amount_minor": amount_minor},
            **{"account": account, "description": description},
        }
        self.ran.append(invoice)
        capability: Any = self.purser.authorize(self.to_spend(order, None)).capability
        return self.pay(capability["token"], order)

    def next(self, last: str | None) -> Order | None:
        """The scripted model: buys one after the other, and asks again once a person has looked."""
        if last is not None:
            self.told.append(last)
        if self.current is not None and last is not None and re.search("person must review", last):
            invoice = self.current["invoice"]
            if invoice not in self.asked_twice:
                self.asked_twice.add(invoice)
                self.review()
                return self.current
        self.current = self.left.pop(0) if self.left else None
        return self.current


Drive = Callable[[Conversation], Awaitable[None]]


def check_ten_purchases(drive: Drive, service_url: str, slug: str, *, is_async: bool) -> None:
    """An agent pays the six that are right, once, and not the four that are wrong."""
    with Purser(ADMIN_KEY, base_url=service_url, timeout=60) as admin:
        agent = admin.agents.create({"slug": slug, "mode": "ENFORCE", "authority": AUTHORITY})

        def key_of(body: Any) -> str:
            return admin.api_keys.create(body)["key"]

        agent_key = key_of({"name": slug, "agent_id": agent["id"]})
        purser = admin.with_options(api_key=agent_key)
        adapter = admin.with_options(api_key=key_of({"name": "bank", "scopes": ["consume"]}))
        reviewer = {"name": "ada", "scopes": ["review", "read"], "principal_id": "user:ada"}
        person = admin.with_options(api_key=key_of(reviewer))
        payments: list[tuple[str, int, str]] = []

        def pay(token: str, order: Order) -> str:
            invoice, amount, account = order["invoice"], order["amount_minor"], order["account"]
            used = adapter.capabilities.consume(
                {
                    **{"token": token, "amount_minor": amount, "currency": "EUR"},  # type: ignore[typeddict-item]
                    **{"payee_id": f"bank:{account}", "merchant": order["merchant"]},
                },
                idempotency_key=f"bank-{slug}-{invoice}-{account}",
            )
            payments.append((invoice, amount, account))
            outcome: Any = {
                **{"type": "SPEND_EXECUTED", "amount_minor": amount, "source": "PAYMENT_RAIL"},
                "external_reference": f"transfer-{invoice}",
            }
            adapter.decisions.report_outcome(used["decision_id"], outcome)
            return f"paid {invoice}"

        def review() -> None:
            for each in person.decisions.list(agent=slug, review_state="PENDING"):
                is_right = any(
                    (order["merchant"], order["amount_minor"])
                    == (each["action"]["merchant"], each["action"]["amount_minor"])
                    for order in RIGHT
                )
                person.decisions.review(
                    each["decision_id"],
                    {"action": "ALLOW" if is_right else "DENY", "reason_code": "LOOKED_AT"},
                )

        async def converse() -> Conversation:
            guard_with: Any = purser
            if is_async:
                guard_with = AsyncPurser(agent_key, base_url=service_url, timeout=60)
            talk = Conversation(purser, guard_with, to_spend, [order for order, _ in PURCHASES])
            talk.pay, talk.review = pay, review
            await drive(talk)
            if is_async:
                await guard_with.close()
            return talk

        talk = asyncio.run(converse())
        assert payments == [(each["invoice"], each["amount_minor"], each["account"]) for each in RIGHT]
        # Three were stopped before the tool ran; the fourth names another payee, and the rail stopped it.
        ran = [order["invoice"] for order, wrong in PURCHASES if wrong in (None, "another payee")]
        assert list(dict.fromkeys(talk.ran)) == ran
        decisions = list(admin.decisions.list(agent=slug, order="asc"))
        assert [
            (each["action"]["merchant"], each["outcome_state"], each["verified"]) for each in decisions
        ] == [
            (order["merchant"], "NONE" if wrong else "EXECUTED", wrong is None) for order, wrong in PURCHASES
        ]
        refused = [each["effective_decision"] for each in decisions if each["outcome_state"] == "NONE"]
        assert refused == ["DENY", "DENY", "DENY", "ALLOW"]
        assert admin.ledger.verify()["valid"]


@contextmanager
def _silent_server() -> Iterator[str]:
    """Takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


Kind = Literal["away", "late", "to_spend raises"]


def check_stays_shut(drive: Drive, kind: Kind, *, is_async: bool, status: str | None = None) -> None:
    """With Purser away or too late, or `to_spend` raising, the tool never runs, and the model hears of it."""

    def broken(arguments: dict[str, Any], call_id: str | None) -> Any:
        raise RuntimeError("broken")

    async def converse(base_url: str) -> Conversation:
        options: Any = {"base_url": base_url, "timeout": 0.2, "max_retries": 0}
        purser = Purser("sk_test", **options)
        guard_with = AsyncPurser("sk_test", **options) if is_async else purser
        spend = broken if kind == "to_spend raises" else to_spend
        talk = Conversation(purser, guard_with, spend, [RIGHT[0], RIGHT[1]])
        await drive(talk)
        purser.close()
        if isinstance(guard_with, AsyncPurser):
            await guard_with.close()
        return talk

    with _silent_server() as silent:
        talk = asyncio.run(converse("http://127.0.0.1:9" if kind == "away" else silent))
    wanted = status or ("REFUSED" if kind == "to_spend raises" else "UNAVAILABLE")
    assert talk.ran == []
    assert [wanted in told for told in talk.told] == [True, True]
