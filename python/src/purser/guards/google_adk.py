"""Google's Agent Development Kit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext

from ._guard import AnyPurser, GuardOptions, ToSpend, Unpack, ask_async


class PurserPlugin(BasePlugin):
    """See `purser_plugin`."""

    def __init__(self, purser: AnyPurser, tools: Mapping[str, ToSpend], options: GuardOptions) -> None:
        super().__init__(name="purser")
        self._purser, self._to_spend, self._options = purser, dict(tools), options

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        to_spend = self._to_spend.get(tool.name)
        if to_spend is None:
            return None
        call_id = tool_context.function_call_id
        refusal = await ask_async(self._purser, to_spend, tool_args, call_id, self._options)
        return None if refusal is None else {**refusal}


def purser_plugin(
    purser: AnyPurser, tools: Mapping[str, ToSpend], **options: Unpack[GuardOptions]
) -> PurserPlugin:
    """
    For `Runner(plugins=[purser_plugin(purser, {"buy": to_spend})])`. A plugin covers the tools of sub-agents too; the
    callback of one agent does not.
    """
    return PurserPlugin(purser, tools, options)
