"""Pydantic AI."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import RunContext, ToolDefinition

from .._spend import Grant
from ._guard import AnyPurser, GuardToolOptions, ToSpend, Unpack, run_async


class PurserCapability(AbstractCapability[Any]):
    """See `purser_capability`."""

    def __init__(self, purser: AnyPurser, tools: Mapping[str, ToSpend], options: GuardToolOptions) -> None:
        self._purser, self._to_spend, self._options = purser, dict(tools), options

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: Callable[[dict[str, Any]], Awaitable[Any]],
    ) -> Any:
        to_spend = self._to_spend.get(call.tool_name)
        if to_spend is None:
            return await handler(args)

        async def run(_: Grant) -> Any:
            return await handler(args)

        return await run_async(self._purser, to_spend, args, call.tool_call_id, run, self._options)


def purser_capability(
    purser: AnyPurser, tools: Mapping[str, ToSpend], **options: Unpack[GuardToolOptions]
) -> PurserCapability:
    """For `Agent(capabilities=[purser_capability(purser, {"buy": to_spend})])`. A refusal is the tool's result."""
    return PurserCapability(purser, tools, options)
