"""There is one method for every route of the API but the door, in both clients."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest

from purser import AsyncPurser, Purser
from purser._core import AsyncResource, Resource

from .conftest import ROOT, openapi

ANSWER = {
    **{"decision_id": "dec_1", "mode": "ENFORCE", "effective_decision": "DENY", "review_state": None},
    **{"outcome_state": "NONE", "requested_amount_minor": 1, "authorized_amount_minor": 0},
    **{"currency": "EUR", "capability": None, "status": "CONSUMED", "amount_minor": 1},
    **{"outcome_id": "out_1", "type": "SPEND_FAILED", "data": [], "next_cursor": None},
}


PARAMETER = re.compile(r"{\w+}")


def _methods(resource: object, name: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    for each, method in inspect.getmembers(resource, inspect.ismethod):
        if not each.startswith("_") and each in type(resource).__dict__:
            yield f"{name}.{each}", method
    for noun, inner in vars(resource).items():
        if isinstance(inner, (Resource, AsyncResource)):
            yield from _methods(inner, f"{name}.{noun}")


def _nouns(client: Purser | AsyncPurser) -> Iterator[tuple[str, Callable[..., Any]]]:
    for noun, resource in vars(client).items():
        if isinstance(resource, (Resource, AsyncResource)):
            yield from _methods(resource, noun)


def _argument(name: str, annotation: object) -> object:
    by_name = {"body": {}, "file": b"a file", "instrument": "rail:the-instrument"}
    return by_name.get(name, 7 if annotation == "int" else f"the-{name}")


def _arguments(method: Callable[..., Any]) -> tuple[list[object], dict[str, object]]:
    positional: list[object] = []
    keywords: dict[str, object] = {}
    for name, parameter in inspect.signature(method).parameters.items():
        if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD:
            positional.append(_argument(name, parameter.annotation))
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY and parameter.default is parameter.empty:
            keywords[name] = "csv"
    if method.__qualname__.endswith("Capabilities.consume"):
        keywords["idempotency_key"] = "a"
    return positional, keywords


# The door is for pages, where somebody types what is sent; and payment rails send events by themselves.
OF_OTHERS = re.compile(r"/v1/(auth/|rails/\{id\}/events$)")


def _declared() -> set[str]:
    paths: Any = openapi()["paths"]
    return {
        f"{method.upper()} {PARAMETER.sub('*', path)}"
        for path, methods in paths.items()
        for method in methods
        if path.startswith("/v1/") and not OF_OTHERS.match(path)
    }


def _service(sent: list[str]) -> httpx2.MockTransport:
    def answer(request: httpx2.Request) -> httpx2.Response:
        path = re.sub(r"(?:rail:)?the-\w+|(?<=/)7$", "*", request.url.path)
        sent.append(f"{request.method} {path}")
        return httpx2.Response(204) if request.method == "DELETE" else httpx2.Response(200, json=ANSWER)

    return httpx2.MockTransport(answer)


def test_every_route_of_the_api_has_a_method() -> None:
    sent: list[str] = []
    with Purser("sk_test", http_client=httpx2.Client(transport=_service(sent))) as purser:
        for name, method in _nouns(purser):
            before = len(sent)
            positional, keywords = _arguments(method)
            given = method(*positional, **keywords)
            if hasattr(given, "__enter__"):
                with given as lines:
                    assert list(lines)
            assert len(sent) == before + 1, name
    assert set(sent) == _declared()


def test_every_route_of_the_api_has_an_async_method() -> None:
    sent: list[str] = []

    async def call_all() -> None:
        async with AsyncPurser("sk_test", http_client=httpx2.AsyncClient(transport=_service(sent))) as purser:
            for name, method in _nouns(purser):
                before = len(sent)
                positional, keywords = _arguments(method)
                given = method(*positional, **keywords)
                if hasattr(given, "__aenter__"):
                    async with given as lines:
                        assert [line async for line in lines]
                else:
                    await given
                assert len(sent) == before + 1, name

    asyncio.run(call_all())
    assert set(sent) == _declared()


@pytest.mark.parametrize("make", [Purser, AsyncPurser])
def test_every_method_of_the_typescript_client_is_there_under_its_name_in_python(
    make: type[Purser] | type[AsyncPurser],
) -> None:
    text = (ROOT / "sdk" / "src" / "resources.ts").read_text()
    named = re.findall(r"^  (\w+)\([^()]*\): (?:API|Page)Promise<", text, re.MULTILINE)
    wanted = [re.sub(r"[A-Z]", lambda found: f"_{found.group().lower()}", each) for each in named]
    # `test` and `list` and the like are methods of several nouns.
    have = [name.rsplit(".", 1)[1] for name, _ in _nouns(make("sk_test"))]
    assert len(wanted) > 70
    assert sorted(wanted) == sorted(have)
