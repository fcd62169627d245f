"""What the rules ask for, and the two drivers that do it. No rule is in here, and no input or output in a rule."""

from __future__ import annotations

import asyncio
import inspect
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import httpx2

T = TypeVar("T")


class Bell:
    """Wakes one sleeper, from any thread."""

    def __init__(self) -> None:
        self.rung = threading.Event()
        self.on_ring: Callable[[], object] | None = None

    def ring(self) -> None:
        self.rung.set()
        listener = self.on_ring
        if listener is not None:
            listener()


@dataclass(frozen=True)
class Send:
    """One attempt. `pools` says whose connections carry it, `with_key` adds the key."""

    pools: Pools
    with_key: Callable[[Mapping[str, str]], dict[str, str]] = field(repr=False)
    method: str
    url: str
    headers: Mapping[str, str] = field(repr=False)
    content: bytes | None = field(repr=False)
    timeout: float
    streamed: bool


@dataclass(frozen=True)
class Sleep:
    seconds: float
    bell: Bell | None = None


@dataclass(frozen=True)
class CallBack:
    """A function of the caller. An async driver awaits what it gives; a sync one hands an awaitable on."""

    function: Callable[..., object]
    arguments: tuple[object, ...] = field(repr=False)


Work = Generator[Any, Any, T]


@dataclass(frozen=True)
class Reply:
    status: int
    headers: httpx2.Headers = field(repr=False)
    #: Empty while `stream` is open.
    text: str = field(repr=False)
    stream: httpx2.Response | None = field(repr=False, default=None)


class Pools(Protocol):
    """Connections of a client."""

    def sync_client(self) -> httpx2.Client: ...

    def async_client(self) -> httpx2.AsyncClient: ...


def now() -> float:
    """Seconds of a clock that only goes forward."""
    return time.monotonic()


def pause(seconds: float, bell: Bell | None) -> None:
    if bell is None:
        time.sleep(seconds)
    else:
        bell.rung.wait(seconds)


async def pause_async(seconds: float, bell: Bell | None) -> None:
    if bell is None:
        await asyncio.sleep(seconds)
        return
    loop = asyncio.get_running_loop()
    woken = asyncio.Event()
    bell.on_ring = lambda: loop.call_soon_threadsafe(woken.set)
    try:
        if not bell.rung.is_set():
            await asyncio.wait_for(woken.wait(), seconds)
    except asyncio.TimeoutError:
        pass
    finally:
        bell.on_ring = None


def bare(error: BaseException) -> BaseException:
    """The error without the frames below us: their variables hold the key."""
    error.__context__ = error.__cause__ = None
    return error.with_traceback(None)


def _kwargs(send: Send) -> dict[str, Any]:
    return {
        "headers": send.with_key(send.headers),
        "content": send.content,
        "timeout": httpx2.Timeout(send.timeout),
    }


def _late(send: Send) -> httpx2.ReadTimeout:
    return httpx2.ReadTimeout(f"no whole answer within {send.timeout:g} s")


def _reply(response: httpx2.Response, chunks: list[bytes]) -> Reply:
    return Reply(response.status_code, response.headers, b"".join(chunks).decode("utf-8", "replace"))


def exchange(send: Send) -> Reply | BaseException:
    """Sends; gives an error instead of raising it, without its frames."""
    try:
        until = now() + send.timeout
        client = send.pools.sync_client()
        request = client.build_request(send.method, send.url, **_kwargs(send))
        response = client.send(request, stream=True, follow_redirects=False)
        if send.streamed and response.status_code < 300:
            return Reply(response.status_code, response.headers, "", response)
        try:
            chunks: list[bytes] = []
            for chunk in response.iter_bytes():
                chunks.append(chunk)
                if now() > until:
                    raise _late(send)
        finally:
            response.close()
        return _reply(response, chunks)
    except BaseException as error:
        return bare(error)


async def _exchange_async(send: Send) -> Reply:
    client = send.pools.async_client()
    request = client.build_request(send.method, send.url, **_kwargs(send))
    response = await client.send(request, stream=True, follow_redirects=False)
    if send.streamed and response.status_code < 300:
        return Reply(response.status_code, response.headers, "", response)
    try:
        chunks = [chunk async for chunk in response.aiter_bytes()]
    finally:
        await response.aclose()
    return _reply(response, chunks)


async def exchange_async(send: Send) -> Reply | BaseException:
    """As `exchange`."""
    try:
        return await asyncio.wait_for(_exchange_async(send), send.timeout)
    except asyncio.TimeoutError:
        return bare(_late(send))
    except BaseException as error:
        return bare(error)


def run(work: Work[T]) -> T:
    """Does what the work asks for, to its end, in this thread."""
    answer: object = None
    error: BaseException | None = None
    while True:
        try:
            effect = work.send(answer) if error is None else work.throw(error)
        except StopIteration as stop:
            value: T = stop.value
            return value
        answer, error = None, None
        try:
            if isinstance(effect, Send):
                answer = exchange(effect)
            elif isinstance(effect, Sleep):
                pause(effect.seconds, effect.bell)
            else:
                answer = effect.function(*effect.arguments)
        except BaseException as raised:
            error = raised
        if isinstance(answer, BaseException) and isinstance(effect, Send):
            answer, error = None, answer


async def run_async(work: Work[T]) -> T:
    """As `run`, in this task."""
    answer: object = None
    error: BaseException | None = None
    while True:
        try:
            effect = work.send(answer) if error is None else work.throw(error)
        except StopIteration as stop:
            value: T = stop.value
            return value
        answer, error = None, None
        try:
            if isinstance(effect, Send):
                answer = await exchange_async(effect)
            elif isinstance(effect, Sleep):
                await pause_async(effect.seconds, effect.bell)
            else:
                answer = effect.function(*effect.arguments)
                if inspect.isawaitable(answer):
                    answer = await answer
        except BaseException as raised:
            error = raised
        if isinstance(answer, BaseException) and isinstance(effect, Send):
            answer, error = None, answer
