from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator
from typing import Any, Generic, TypeVar

import httpx2

from ._errors import APIConnectionError

T = TypeVar("T")


class Page(Generic[T]):
    """One page of a list; iterating goes on over all that follow."""

    def __init__(self, data: list[T], next_cursor: str | None, fetch: Callable[[str], Page[T]]) -> None:
        self.data = data
        self.next_cursor = next_cursor
        self._fetch = fetch

    def has_next_page(self) -> bool:
        return self.next_cursor is not None

    def get_next_page(self) -> Page[T]:
        """The page after this one. Raises a `ValueError` on the last."""
        if self.next_cursor is None:
            raise ValueError("This is the last page")
        return self._fetch(self.next_cursor)

    def __iter__(self) -> Iterator[T]:
        page = self
        yield from page.data
        while page.has_next_page():
            page = page.get_next_page()
            yield from page.data


class AsyncPage(Generic[T]):
    """As `Page`, with `async for`."""

    def __init__(
        self, data: list[T], next_cursor: str | None, fetch: Callable[[str], Awaitable[AsyncPage[T]]]
    ) -> None:
        self.data = data
        self.next_cursor = next_cursor
        self._fetch = fetch

    def has_next_page(self) -> bool:
        return self.next_cursor is not None

    async def get_next_page(self) -> AsyncPage[T]:
        """The page after this one. Raises a `ValueError` on the last."""
        if self.next_cursor is None:
            raise ValueError("This is the last page")
        return await self._fetch(self.next_cursor)

    async def __aiter__(self) -> AsyncIterator[T]:
        page = self
        for each in page.data:
            yield each
        while page.has_next_page():
            page = await page.get_next_page()
            for each in page.data:
                yield each


class AsyncPages(Generic[T]):
    """A list: `await` it for its first page, `async for` over it for everything."""

    def __init__(self, fetch: Callable[[], Awaitable[AsyncPage[T]]]) -> None:
        self._fetch = fetch

    def __await__(self) -> Generator[Any, Any, AsyncPage[T]]:
        return self._fetch().__await__()

    async def __aiter__(self) -> AsyncIterator[T]:
        async for each in await self._fetch():
            yield each


class Lines:
    """A whole document, line by line, without line ends. Iterating raises an `APIConnectionError` where it breaks off."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.headers = response.headers

    def __iter__(self) -> Iterator[str]:
        try:
            yield from self._response.iter_lines()
        except httpx2.HTTPError as cause:
            cause.__context__ = None
            raise APIConnectionError("The document broke off") from cause.with_traceback(None)


class AsyncLines:
    """As `Lines`, with `async for`."""

    def __init__(self, response: httpx2.Response) -> None:
        self._response = response
        self.headers = response.headers

    async def __aiter__(self) -> AsyncIterator[str]:
        try:
            async for line in self._response.aiter_lines():
                yield line
        except httpx2.HTTPError as cause:
            cause.__context__ = None
            raise APIConnectionError("The document broke off") from cause.with_traceback(None)
