from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from claude_agent_sdk import ClaudeAgentOptions, Transport, create_sdk_mcp_server, query, tool

from frameworks.purchases import Conversation, Kind, check_stays_shut, check_ten_purchases
from purser import Purser
from purser.guards.claude import purser_hook


class ScriptedClaudeCode(Transport):
    """
    Claude Code as the SDK sees it, as far as tools go: asks the hooks of PreToolUse, then calls the tool of the SDK's own
    server. A hook that fails stops the tool only where its matcher says so, as documented.
    """

    def __init__(self, talk: Conversation) -> None:
        self.talk = talk
        self.out: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self.waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self.matchers: list[dict[str, Any]] = []
        self.conversing: asyncio.Task[None] | None = None

    async def connect(self) -> None: ...

    def is_ready(self) -> bool:
        return True

    async def end_input(self) -> None: ...

    async def close(self) -> None:
        await self.out.put(None)

    async def write(self, data: str) -> None:
        line = json.loads(data)
        if line["type"] == "control_response":
            response = line["response"]
            waiting = self.waiting.pop(response["request_id"])
            if not waiting.done():
                waiting.set_result(response)
        elif line["type"] == "control_request":
            request = line["request"]
            if request["subtype"] == "initialize":
                self.matchers = (request.get("hooks") or {}).get("PreToolUse") or []
            said = {"hooks_applied": True, "hook_on_failure_supported": True}
            answer = {"subtype": "success", "request_id": line["request_id"], "response": said}
            await self.out.put({"type": "control_response", "response": answer})
        elif line["type"] == "user" and self.conversing is None:
            self.conversing = asyncio.ensure_future(self.converse())

    async def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        while (message := await self.out.get()) is not None:
            yield message

    async def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        request_id = f"cli-{id(request)}-{len(self.waiting)}"
        self.waiting[request_id] = asyncio.get_running_loop().create_future()
        waiting = self.waiting[request_id]
        await self.out.put({"type": "control_request", "request_id": request_id, "request": request})
        return await waiting

    async def refusal_of(self, order: dict[str, Any], call_id: str) -> str | None:
        given = {
            **{"hook_event_name": "PreToolUse", "tool_name": "mcp__shop__buy", "tool_input": order},
            **{"tool_use_id": call_id, "session_id": "scripted", "transcript_path": "", "cwd": ""},
        }
        for matcher in self.matchers:
            for callback_id in matcher["hookCallbackIds"]:
                request = {"subtype": "hook_callback", "callback_id": callback_id, "input": given}
                response = await self.ask({**request, "tool_use_id": call_id})
                if response["subtype"] == "error":
                    if matcher.get("onFailure") == "block":
                        return str(response["error"])
                    continue
                output = (response.get("response") or {}).get("hookSpecificOutput") or {}
                if output.get("permissionDecision") == "deny":
                    return str(output["permissionDecisionReason"])
        return None

    async def send_to_server(self, **message: Any) -> dict[str, Any]:
        given = {"jsonrpc": "2.0", **message}
        return await self.ask({"subtype": "mcp_message", "server_name": "shop", "message": given})

    async def converse(self) -> None:
        client = {"protocolVersion": "2025-06-18", "capabilities": {}}
        about = {**client, "clientInfo": {"name": "scripted", "version": "1"}}
        await self.send_to_server(id=0, method="initialize", params=about)
        await self.send_to_server(method="notifications/initialized")
        last: str | None = None
        call = 0
        while (order := self.talk.next(last)) is not None:
            call += 1
            last = await self.refusal_of(order, f"toolu_{call}")
            if last is not None:
                continue
            params = {"name": "buy", "arguments": order}
            response = await self.send_to_server(id=call, method="tools/call", params=params)
            last = json.dumps(response)
        result = {
            **{"type": "result", "subtype": "success", "is_error": False, "result": "done"},
            **{"session_id": "scripted", "num_turns": 1, "duration_ms": 1, "duration_api_ms": 1},
        }
        await self.out.put(result)
        await self.out.put(None)


async def drive(talk: Conversation) -> None:
    types = {"invoice": str, "merchant": str, "amount_minor": int, "account": str, "description": str}

    @tool("buy", "Buys something", types)
    async def buy(order: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": talk.buy(**order)}]}

    options = ClaudeAgentOptions(
        mcp_servers={"shop": create_sdk_mcp_server("shop", tools=[buy])},
        hooks={"PreToolUse": [purser_hook(talk.guard_with, {"mcp__shop__buy": talk.to_spend})]},
    )

    async def prompt() -> AsyncIterator[dict[str, Any]]:
        message = {"role": "user", "content": "Keep staging running"}
        yield {"type": "user", "message": message, "parent_tool_use_id": None, "session_id": "scripted"}

    async for _ in query(prompt=prompt(), options=options, transport=ScriptedClaudeCode(talk)):
        pass


@pytest.mark.parametrize("is_async", [False, True])
def test_ten_purchases(service_url: str, is_async: bool) -> None:
    check_ten_purchases(drive, service_url, f"claude-{is_async}".lower(), is_async=is_async)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("kind", ["away", "late", "to_spend raises"])
def test_it_stays_shut(kind: Kind, is_async: bool) -> None:
    check_stays_shut(drive, kind, is_async=is_async)


def test_a_hook_that_fails_stops_the_tool_and_denies_before_its_time_is_over() -> None:
    matcher = purser_hook(Purser("sk_test"), {}, wait_for_review=600)
    assert (matcher.on_failure, matcher.timeout) == ("block", 720)
