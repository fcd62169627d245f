"""Guards: one line between an agent's tool and the money. Each framework's own is in a module that imports it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from .._client import AsyncPurser, Purser
from .._spend import Grant, is_async_function
from ._guard import (
    AnyPurser,
    GuardOptions,
    GuardToolOptions,
    Refusal,
    ToSpend,
    Unpack,
    run_async,
    run_sync,
)

__all__ = ["GuardOptions", "GuardToolOptions", "Refusal", "ToSpend", "guarded"]


def guarded(
    purser: AnyPurser, to_spend: ToSpend, **options: Unpack[GuardToolOptions]
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """
    Guards a tool of your own: asks, waits, runs it at most once for each name, and reports what became of it. A parameter
    named `grant` gets the `Grant` and is shown to no model. Name and docstring stay; sync stays sync, async async. The
    tool then gives what it gave before, or a `Refusal`; it never raises. Raises a `TypeError` for a sync tool with an
    `AsyncPurser`.
    """

    def decorate(tool: Callable[..., Any]) -> Callable[..., Any]:
        is_async = is_async_function(tool)
        if isinstance(purser, AsyncPurser) and not is_async:
            raise TypeError("tool is sync: guard it with Purser, or make it async")
        signature = inspect.signature(tool)
        takes_grant = "grant" in signature.parameters
        shown = [each for name, each in signature.parameters.items() if name != "grant"]
        visible = signature.replace(parameters=shown)

        def named(*args: Any, **kwargs: Any) -> dict[str, Any]:
            bound = visible.bind(*args, **kwargs)
            bound.apply_defaults()
            return dict(bound.arguments)

        def given(kwargs: dict[str, Any], grant: Grant) -> dict[str, Any]:
            return {**kwargs, "grant": grant} if takes_grant else kwargs

        def spend_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> ToSpend:
            return lambda _, call_id: to_spend(named(*args, **kwargs), call_id)

        wrapper: Any
        if is_async:

            @functools.wraps(tool)
            async def wrap_async(*args: Any, **kwargs: Any) -> Any:
                async def run(grant: Grant) -> Any:
                    return await tool(*args, **given(kwargs, grant))

                return await run_async(purser, spend_of(args, kwargs), {}, None, run, options)

            wrapper = wrap_async
        else:
            assert isinstance(purser, Purser)
            sync_purser = purser

            @functools.wraps(tool)
            def wrap_sync(*args: Any, **kwargs: Any) -> Any:
                def run(grant: Grant) -> Any:
                    return tool(*args, **given(kwargs, grant))

                return run_sync(sync_purser, spend_of(args, kwargs), {}, None, run, options)

            wrapper = wrap_sync
        wrapper.__signature__ = visible
        wrapper.__annotations__ = {
            name: each for name, each in tool.__annotations__.items() if name != "grant"
        }
        guarded_tool: Callable[..., Any] = wrapper
        return guarded_tool

    return decorate
