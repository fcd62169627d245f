from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import httpx2

from ._io import Work, run, run_async
from ._options import Settings
from ._pages import AsyncLines, AsyncPage, AsyncPages, Lines, Page
from ._transport import Answer, Call, send


class Connections:
    """The connections of a client: its own, made when they are needed, or the caller's."""

    def __init__(
        self, is_loopback: bool, given: httpx2.Client | httpx2.AsyncClient | None, *, is_async: bool
    ) -> None:
        kind = httpx2.AsyncClient if is_async else httpx2.Client
        if given is not None and not isinstance(given, kind):
            raise TypeError(f"http_client must be an httpx2.{kind.__name__}")
        # A proxy that the environment names has no business between a program and its own machine.
        self._trust_env = not is_loopback
        self._given = given
        self.after_fork()
        _ALL.add(self)

    def after_fork(self) -> None:
        """Forgets what is the parent's: its connections, and the lock, which it may have held."""
        self._lock = threading.Lock()
        self._own: httpx2.Client | None = None
        #: By event loop: a connection belongs to the loop that made it.
        self._own_async: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx2.AsyncClient] = (
            WeakKeyDictionary()
        )

    def sync_client(self) -> httpx2.Client:
        if isinstance(self._given, httpx2.Client):
            return self._given
        with self._lock:
            if self._own is None:
                self._own = httpx2.Client(trust_env=self._trust_env)
            return self._own

    def async_client(self) -> httpx2.AsyncClient:
        if isinstance(self._given, httpx2.AsyncClient):
            return self._given
        loop = asyncio.get_running_loop()
        with self._lock:
            client = self._own_async.get(loop)
            if client is None:
                client = self._own_async[loop] = httpx2.AsyncClient(trust_env=self._trust_env)
            return client

    def close(self) -> None:
        """Closes its own connections; the next call makes new ones."""
        with self._lock:
            own, self._own = self._own, None
        if own is not None:
            own.close()

    async def aclose(self) -> None:
        """As `close`, for those of the running event loop."""
        with self._lock:
            own = self._own_async.pop(asyncio.get_running_loop(), None)
        if own is not None:
            await own.aclose()


_ALL: WeakSet[Connections] = WeakSet()


def _after_fork() -> None:
    for each in list(_ALL):
        each.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class Core:
    """What every resource of a client shares."""

    def __init__(self, settings: Settings, connections: Connections) -> None:
        self.settings = settings
        self.connections = connections

    def send(self, call: Call) -> Work[Answer]:
        return send(self.settings, self.connections, call)


class AsyncCore(Core):
    pass


class Resource:
    """Routes that belong together: one method a route, with the types of the API."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def _send(self, call: Call) -> Any:
        return run(self._core.send(call)).data

    def _pages(self, call: Call) -> Page[Any]:
        page = run(self._core.send(call)).data
        return Page(
            page["data"],
            page["next_cursor"],
            lambda cursor: self._pages(replace(call, query={**call.query, "cursor": cursor})),
        )

    def _stream(self, call: Call) -> AbstractContextManager[Lines]:
        return self._lines(call)

    @contextmanager
    def _lines(self, call: Call) -> Generator[Lines]:
        stream = run(self._core.send(call)).stream
        assert stream is not None
        try:
            yield Lines(stream)
        finally:
            stream.close()


class AsyncResource:
    """As `Resource`, for `await`."""

    def __init__(self, core: AsyncCore) -> None:
        self._core = core

    async def _send(self, call: Call) -> Any:
        return (await run_async(self._core.send(call))).data

    def _pages(self, call: Call) -> AsyncPages[Any]:
        return AsyncPages(lambda: self._page(call))

    async def _page(self, call: Call) -> AsyncPage[Any]:
        page = (await run_async(self._core.send(call))).data
        return AsyncPage(
            page["data"],
            page["next_cursor"],
            lambda cursor: self._page(replace(call, query={**call.query, "cursor": cursor})),
        )

    def _stream(self, call: Call) -> AbstractAsyncContextManager[AsyncLines]:
        return self._lines(call)

    @asynccontextmanager
    async def _lines(self, call: Call) -> AsyncGenerator[AsyncLines]:
        stream = (await run_async(self._core.send(call))).stream
        assert stream is not None
        try:
            yield AsyncLines(stream)
        finally:
            await stream.aclose()
