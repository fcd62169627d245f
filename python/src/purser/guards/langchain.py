"""LangChain and LangGraph."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import ToolMessage

from .._spend import Grant
from ._guard import AnyPurser, GuardToolOptions, ToSpend, Unpack, as_text, run_async, run_sync


class PurserMiddleware(AgentMiddleware[Any, Any]):
    def __init__(self, purser: AnyPurser, tools: Mapping[str, ToSpend], options: GuardToolOptions) -> None:
        super().__init__()
        self._purser, self._tools, self._options = purser, dict(tools), options

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        call, to_spend = request.tool_call, self._tools.get(request.tool_call["name"])
        if to_spend is None:
            return handler(request)

        def run(_: Grant) -> Any:
            return _settled(handler(request))

        return _told(run_sync(self._purser, to_spend, call["args"], call["id"], run, self._options), call)

    async def awrap_tool_call(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        call, to_spend = request.tool_call, self._tools.get(request.tool_call["name"])
        if to_spend is None:
            return await handler(request)

        async def run(_: Grant) -> Any:
            return _settled(await handler(request))

        answer = await run_async(self._purser, to_spend, call["args"], call["id"], run, self._options)
        return _told(answer, call)


def _settled(message: Any) -> Any:
    if isinstance(message, ToolMessage) and message.status == "error":
        raise RuntimeError(f"this proves nothing, the tool may have paid before it failed: {message.text}")
    return message


def _told(answer: Any, call: Any) -> Any:
    if not isinstance(answer, dict):
        return answer
    return ToolMessage(as_text(answer), tool_call_id=call["id"], name=call["name"], status="error")  # type: ignore[arg-type]


def purser_middleware(
    purser: AnyPurser, tools: Mapping[str, ToSpend], **options: Unpack[GuardToolOptions]
) -> PurserMiddleware:
    """For `create_agent(middleware=[m])`, or `ToolNode(wrap_tool_call=m.wrap_tool_call, awrap_tool_call=…)`."""
    return PurserMiddleware(purser, tools, options)
