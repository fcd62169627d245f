"""OpenAI Agents."""

from __future__ import annotations

import json
from typing import Any

from agents import ToolGuardrailFunctionOutput, ToolInputGuardrail, ToolInputGuardrailData

from ._guard import AnyPurser, GuardOptions, ToSpend, Unpack, as_text, ask_async, refusal_of


def purser_guardrail(
    purser: AnyPurser, to_spend: ToSpend, **options: Unpack[GuardOptions]
) -> ToolInputGuardrail[Any]:
    """
    For `function_tool(tool_input_guardrails=[purser_guardrail(purser, to_spend)])`: the tool runs only with leave. Hosted
    tools, handoffs and `Agent.as_tool` take no such guardrail.
    """

    async def guard(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        try:
            arguments: Any = json.loads(data.context.tool_arguments or "{}")
            refusal = await ask_async(purser, to_spend, arguments, data.context.tool_call_id, options)
        except Exception as error:
            refusal = refusal_of(error, False, {"on_refusal": options.get("on_refusal")})
        if refusal is None:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content(as_text(refusal))

    return ToolInputGuardrail(guardrail_function=guard, name="purser")
