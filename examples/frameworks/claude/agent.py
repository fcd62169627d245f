"""
An agent of the Claude Agent SDK that pays two invoices. Purser allows one and denies the other.

    PURSER_BASE_URL=http://127.0.0.1:8080 PURSER_AGENT_KEY=sk_… python agent.py

A script plays the model, so that no key of a provider is needed. See docs/guides/frameworks.md.
"""

import asyncio
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, create_sdk_mcp_server, query, tool

from purser import AsyncPurser, types
from purser.guards.claude import purser_hook

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


def scripted() -> dict[str, str]:
    """A server that answers as the Messages API does: it calls `pay` for one invoice after the other."""
    left = list(INVOICES)
    usage = {"input_tokens": 1, "output_tokens": 1}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = self.rfile.read(int(self.headers["content-length"]))
            order = left.pop(0) if left and b'"mcp__shop__pay"' in asked else None
            block: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": "Done."}
            if order is not None:
                block = {
                    "type": "tool_use",
                    "id": f"toolu_{order['invoice']}",
                    "name": "mcp__shop__pay",
                    "input": {},
                }
                delta = {"type": "input_json_delta", "partial_json": json.dumps(order)}
            message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted"}
            stop = {"stop_reason": "tool_use" if order else "end_turn", "stop_sequence": None}
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.end_headers()
            for event in (
                {"type": "message_start", "message": {**message, "content": [], "usage": usage}},
                {"type": "content_block_start", "index": 0, "content_block": block},
                {"type": "content_block_delta", "index": 0, "delta": delta},
                {"type": "content_block_stop", "index": 0},
                {"type": "message_delta", "delta": stop, "usage": usage},
                {"type": "message_stop"},
            ):
                self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

        def log_message(self, *_: Any) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return {
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
        "ANTHROPIC_API_KEY": "scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "ENABLE_TOOL_SEARCH": "false",
    }


model = scripted()  # a real model: {}, with ANTHROPIC_API_KEY


@tool(
    "pay",
    "Pays an invoice; amount_minor is in cents",
    {"invoice": str, "merchant": str, "amount_minor": int, "description": str},
)
async def pay(order: dict[str, Any]) -> dict[str, Any]:
    # Your payment system belongs here.
    print(f"{order['invoice']}: paid to {order['merchant']}")
    return {"content": [{"type": "text", "text": "paid"}]}


async def main() -> None:
    async with AsyncPurser(os.environ["PURSER_AGENT_KEY"]) as purser:
        guard = purser_hook(
            purser,
            {"mcp__shop__pay": to_spend},
            on_refusal=lambda refusal, error: print(f"{refusal['status']}: {refusal['reason']}"),
        )
        options = ClaudeAgentOptions(
            env=model,
            mcp_servers={"shop": create_sdk_mcp_server("shop", tools=[pay])},
            allowed_tools=["mcp__shop__pay"],
            setting_sources=[],
            hooks={"PreToolUse": [guard]},
        )
        async for message in query(prompt=PROMPT, options=options):
            if isinstance(message, ResultMessage):
                print(message.result)


asyncio.run(main())
