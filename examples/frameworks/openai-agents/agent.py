"""
An agent of the OpenAI Agents SDK that pays two invoices. Purser allows one and denies the other.

    PURSER_BASE_URL=http://127.0.0.1:8080 PURSER_AGENT_KEY=sk_… python agent.py

A script plays the model, so that no key of a provider is needed. See docs/guides/frameworks.md.
"""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage, function_tool
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from purser import AsyncPurser, types
from purser.guards.openai_agents import purser_guardrail

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


class Scripted(Model):
    """A model that calls `pay` for one invoice after the other."""

    def __init__(self) -> None:
        self.left = list(INVOICES)

    async def get_response(self, *_: Any, **__: Any) -> ModelResponse:
        output: Any
        if self.left:
            order = self.left.pop(0)
            call = {"call_id": order["invoice"], "name": "pay", "arguments": json.dumps(order)}
            output = ResponseFunctionToolCall(type="function_call", **call)
        else:
            text = ResponseOutputText(type="output_text", text="Done.", annotations=[])
            output = ResponseOutputMessage(
                id="msg_1", type="message", role="assistant", status="completed", content=[text]
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError("This model does not stream")


model: Any = Scripted()  # a real model: "gpt-5.2", with OPENAI_API_KEY


def pay(invoice: str, merchant: str, amount_minor: int, description: str) -> str:
    """Pays an invoice; amount_minor is in cents."""
    # Your payment system belongs here.
    print(f"{invoice}: paid to {merchant}")
    return "paid"


async def main() -> None:
    async with AsyncPurser(os.environ["PURSER_AGENT_KEY"]) as purser:
        guard = purser_guardrail(
            purser,
            to_spend,
            on_refusal=lambda refusal, error: print(f"{refusal['status']}: {refusal['reason']}"),
        )
        agent = Agent(name="buyer", model=model, tools=[function_tool(pay, tool_input_guardrails=[guard])])
        ended = await Runner.run(agent, PROMPT, run_config=RunConfig(tracing_disabled=True))
        print(ended.final_output)


asyncio.run(main())
