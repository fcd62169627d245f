"""CrewAI."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from crewai.hooks import (
    register_after_tool_call_hook,
    register_before_tool_call_hook,
    unregister_after_tool_call_hook,
    unregister_before_tool_call_hook,
)
from crewai.utilities.string_utils import sanitize_tool_name

from .._client import Purser
from ._guard import GuardOptions, ToSpend, Unpack, as_text, ask_sync, refusal_of


def purser_hooks(
    purser: Purser, tools: Mapping[str, ToSpend], **options: Unpack[GuardOptions]
) -> Callable[[], None]:
    """
    Guards the tools with these names in every crew of this process; call it once. Gives the function that ends it. CrewAI
    runs a tool whose hook raised, so this one never does; and it tells the model only that a hook blocked the tool, so a
    second hook puts the reason in its place.
    """
    known = {sanitize_tool_name(name): to_spend for name, to_spend in tools.items()}
    #: By the input of the call, which both hooks are given; it is kept here so that no other takes its place.
    refused: dict[int, tuple[object, str]] = {}

    def before(context: Any) -> bool | None:
        given = context.tool_input
        try:
            to_spend = known.get(sanitize_tool_name(context.tool_name))
            if to_spend is None:
                return None
            refusal = ask_sync(purser, to_spend, given, None, options)
        except Exception as error:
            refusal = refusal_of(error, False, {"on_refusal": options.get("on_refusal")})
        if refusal is None:
            return None
        refused[id(given)] = (given, as_text(refusal))
        return False

    def after(context: Any) -> str | None:
        kept = refused.pop(id(context.tool_input), None)
        return None if kept is None else kept[1]

    register_before_tool_call_hook(before)
    register_after_tool_call_hook(after)

    def remove() -> None:
        unregister_before_tool_call_hook(before)
        unregister_after_tool_call_hook(after)

    return remove
