"""The Claude Agent SDK."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Mapping
from typing import Any

from claude_agent_sdk import HookMatcher

from ._guard import AnyPurser, GuardOptions, ToSpend, Unpack, as_text, ask_async, refusal_of

#: Seconds in which the client gives up by itself, however often it tries again.
_ASKING = 120.0
#: Claude Code runs the tool when a hook takes too long: the hook denies so much earlier.
_SPARE = 30.0


def purser_hook(
    purser: AnyPurser, tools: Mapping[str, ToSpend], **options: Unpack[GuardOptions]
) -> HookMatcher:
    """
    For `hooks={"PreToolUse": [purser_hook(purser, {"mcp__shop__buy": to_spend})]}`. The tools named there run only with
    leave; your permission rules hold as well. Other tools are none of its business.
    """
    known = dict(tools)
    timeout = options.get("wait_for_review", 0.0) + _ASKING

    async def hook(given: Any, call_id: str | None, _: Any) -> Any:
        to_spend = known.get(given.get("tool_name", ""))
        if to_spend is None:
            return {}
        try:
            asking = ask_async(purser, to_spend, given.get("tool_input") or {}, call_id, options)
            refusal = await asyncio.wait_for(asking, timeout - _SPARE)
        except Exception as error:
            refusal = refusal_of(error, False, {"on_refusal": options.get("on_refusal")})
        said = {} if refusal is None else {"permissionDecision": "deny"}
        if refusal is not None:
            said["permissionDecisionReason"] = as_text(refusal)
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}

    # Newer versions can be told that a hook that fails stops the tool.
    fields = {each.name for each in dataclasses.fields(HookMatcher)}
    shut: dict[str, Any] = {"on_failure": "block"} if "on_failure" in fields else {}
    return HookMatcher(hooks=[hook], timeout=timeout, **shut)
