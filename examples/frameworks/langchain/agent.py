"""
An agent of LangChain that pays two invoices. Purser allows one and denies the other.

    PURSER_BASE_URL=http://127.0.0.1:8080 PURSER_AGENT_KEY=sk_… python agent.py

A script plays the model, so that no key of a provider is needed. See docs/guides/frameworks.md.
"""

import json
import os
import sys
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage

from purser import Purser, types
from purser.guards.langchain import purser_middleware

number = sys.argv[1] if len(sys.argv) > 1 else "1001"
INVOICES: list[dict[str, Any]] = [
    {
        "invoice": f"INV-{number}-A",
        "merchant": "Hetzner Online",
        "amount_minor": 5_440,
        "description": "A server for staging",
    },
    {
        "invoice": f"INV-{number}-B",
        "merchant": "Amazon",
        "amount_minor": 200_000,
        "description": "Gift cards",
    },
]
PROMPT = f"Pay these invoices, then say what became of each: {json.dumps(INVOICES)}"
#: Where your records say that a merchant is paid. No model writes this.
ACCOUNTS = {"Hetzner Online": "bank:DE01", "Amazon": "bank:LU04"}


def to_spend(arguments: dict[str, Any], call_id: str | None) -> types.SpendRequest:
    return {
        "idempotency_key": arguments["invoice"],
        "task": "Pay the invoices",
        "action": {
            "type": "purchase",
            "merchant": arguments["merchant"],
            "amount_minor": arguments["amount_minor"],
            "currency": "EUR",
            "description": arguments["description"],
            "payee_id": ACCOUNTS[arguments["merchant"]],
        },
    }


class Scripted(FakeMessagesListChatModel):
    """A model that calls `pay` for one invoice after the other."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self


CALLS = [
    AIMessage("", tool_calls=[{"name": "pay", "args": each, "id": each["invoice"]}]) for each in INVOICES
]
model: Any = Scripted(responses=[*CALLS, AIMessage("Done.")])  # a real model: "openai:gpt-5.2"


def pay(invoice: str, merchant: str, amount_minor: int, description: str) -> str:
    """Pays an invoice; amount_minor is in cents."""
    # Your payment system belongs here.
    print(f"{invoice}: paid to {merchant}")
    return "paid"


purser = Purser(os.environ["PURSER_AGENT_KEY"])
guard = purser_middleware(
    purser,
    {"pay": to_spend},
    on_refusal=lambda refusal, error: print(f"{refusal['status']}: {refusal['reason']}"),
)
agent: Any = create_agent(model, [pay], middleware=[guard])
ended = agent.invoke({"messages": [{"role": "user", "content": PROMPT}]})
print(ended["messages"][-1].text)
