from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, Literal, NoReturn, TypeVar, Union, overload

import httpx2

from ._authorize import Authorization, authorize
from ._core import AsyncCore, Connections, Core
from ._errors import PurserError
from ._io import run, run_async
from ._options import RequestEvent, Settings
from ._resources import AsyncNouns, Nouns
from ._review import wake
from ._spend import Grant, Spent, Unreported, checked_options, spend
from ._transport import Answer, Call, CallOptions

if TYPE_CHECKING:
    from .types import SpendRequest

if sys.version_info >= (3, 12):
    from typing import TypedDict, Unpack
else:
    from typing_extensions import TypedDict, Unpack

P = TypeVar("P")
#: The HTTP client of a caller's own.
H = TypeVar("H", httpx2.Client, httpx2.AsyncClient)
Client = TypeVar("Client", bound="_Base[Any]")

OnUnavailable = Union[Literal["refuse", "pay_if_shadow"], Callable[[PurserError, "SpendRequest"], object]]


@dataclass(frozen=True)
class Response:
    """A whole answer, of `request`."""

    #: The parsed JSON; None of an empty body.
    data: Any
    status: int
    headers: Mapping[str, str] = field(repr=False)
    #: For whoever reads the service's log.
    request_id: str
    #: True if the service had answered the same `idempotency_key` before.
    replayed: bool


def _response(answer: Answer) -> Response:
    replayed = answer.headers.get("idempotent-replay") == "true"
    return Response(answer.data, answer.status, answer.headers, answer.request_id, replayed)


def _call_of(
    method: str, path: str, query: Mapping[str, object] | None, body: object, call: CallOptions
) -> Call:
    if not isinstance(method, str) or not isinstance(path, str):
        raise TypeError("method and path must be texts")
    if method not in ("GET", "POST", "PUT", "PATCH", "DELETE"):
        raise ValueError("method must be GET, POST, PUT, PATCH or DELETE")
    if not path.startswith("/") or not path.isascii() or any(each in path for each in "?# \r\n"):
        raise ValueError("path must begin with '/' and have no query: give that as query")
    keyed: Literal["by the caller"] | None = None if call.get("idempotency_key") is None else "by the caller"
    return Call(method, path, call, query=query or {}, body=body, keyed=keyed, shape="anything")


class _Options(TypedDict, total=False):
    api_key: str | None
    base_url: str | None
    timeout: float
    max_retries: int
    default_headers: Mapping[str, str] | None
    on_request: Callable[[RequestEvent], object] | None
    allow_insecure: bool


class PurserOptions(_Options, total=False):
    """Options of `Purser`."""

    http_client: httpx2.Client | None


class AsyncPurserOptions(_Options, total=False):
    """Options of `AsyncPurser`."""

    http_client: httpx2.AsyncClient | None


class _Base(Generic[H]):
    """What both clients share. Their options are in a closure, so that nothing shows the key."""

    # Each sets its own kind, beside its nouns.
    _core: Any

    def __init__(
        self,
        api_key: str | None = None,
        *,
        base_url: str | None = None,
        timeout: float = 10.0,
        max_retries: int = 2,
        http_client: H | None = None,
        default_headers: Mapping[str, str] | None = None,
        on_request: Callable[[RequestEvent], object] | None = None,
        allow_insecure: bool = False,
    ) -> None:
        """
        `api_key` is PURSER_API_KEY by default, `base_url` PURSER_BASE_URL, else http://127.0.0.1:8080. `timeout` is of
        one attempt, in seconds. Raises a `TypeError` or a `ValueError` that names the option at fault.
        """
        options = {
            **{"api_key": api_key, "base_url": base_url, "timeout": timeout, "max_retries": max_retries},
            **{"http_client": http_client, "default_headers": default_headers, "on_request": on_request},
            "allow_insecure": allow_insecure,
        }
        self._init(options, None)

    def _init(self, options: Mapping[str, Any], shared: Connections | None) -> None:
        raise NotImplementedError

    def _settle(
        self, options: Mapping[str, Any], shared: Connections | None, *, is_async: bool
    ) -> tuple[Settings, Connections]:
        given = {name: value for name, value in options.items() if name != "http_client"}
        settings = Settings(**given)
        own = Connections(settings.is_loopback, options["http_client"], is_async=is_async)
        self._options: Callable[[], Mapping[str, Any]] = lambda: options
        return settings, shared or own

    def _changed(self: Client, options: Mapping[str, Any]) -> Client:
        """The same client with these options. Shares its connections unless another address may need others."""
        known = self._options()
        for name in options:
            if name not in known:
                raise TypeError(f"there is no option {name!r}; the options are {', '.join(known)}")
        client = object.__new__(type(self))
        may_share = not {"http_client", "base_url"} & set(options)
        client._init({**known, **options}, self._core.connections if may_share else None)
        return client

    def notify(self, event: Mapping[str, Any]) -> None:
        """Wakes every `authorize` and `spend` of this process that waits for the decision of this event."""
        wake(event)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a Purser client cannot be pickled: it holds a key. Make one where it is needed")


class Purser(_Base[httpx2.Client], Nouns):
    """
    A client of the service with one key. Makes no connection until it is used; safe to share between threads, and
    usable after a fork.
    """

    def _init(self, options: Mapping[str, Any], shared: Connections | None) -> None:
        settings, connections = self._settle(options, shared, is_async=False)
        Nouns.__init__(self, Core(settings, connections))

    def with_options(self, **options: Unpack[PurserOptions]) -> Purser:
        """The same client but for these options. Shares its connections unless the address is another one."""
        return self._changed(options)

    def close(self) -> None:
        """Closes its connections; the next call makes new ones. An `http_client` stays open."""
        self._core.connections.close()

    def __enter__(self) -> Purser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        **call: Unpack[CallOptions],
    ) -> Response:
        """
        Calls a route that has no method of its own. A POST is sent again after a lost connection only with an
        `idempotency_key`. Raises as every method does.
        """
        return _response(run(self._core.send(_call_of(method, path, query, body, call))))

    def authorize(self, request: SpendRequest, *, wait_for_review: float = 0.0) -> Authorization:
        """
        Asks, and waits for a person for up to `wait_for_review` seconds when a review is due. Never pays. Gives the
        leave to make the spend; raises a `SpendError` when there is none, `PurserUnavailable` when Purser cannot be asked.
        """
        return run(authorize(self._core, request, wait_for_review))

    def spend(
        self,
        request: SpendRequest,
        pay: Callable[[Grant], P],
        *,
        adapter: Purser | None = None,
        wait_for_review: float = 0.0,
        on_unavailable: OnUnavailable = "refuse",
        payment_is_idempotent: bool = False,
        is_definite_failure: Callable[[BaseException], object] | None = None,
        on_unreported: Callable[[Unreported], object] | None = None,
    ) -> Spent[P]:
        """
        Asks, waits, pays at most once for each `idempotency_key`, reports. Returns only when the money moved. Raises a
        `SpendError`, a `PurserUnavailable` or an `APIError`; of these only `SpendUncertain` and `SpendUnfinished` leave
        open whether money moved. What raises in `pay` proves nothing, unless it is a `PaymentFailed` or
        `is_definite_failure` gives True for it. `on_unavailable` says what to do when Purser cannot be asked: 'refuse';
        'pay_if_shadow', when this process has seen the agent in SHADOW within the hour; or a function that gives 'pay'.
        """
        if adapter is not None and not isinstance(adapter, Purser):
            raise TypeError("adapter must be a Purser client whose key has the scope consume")
        options = checked_options(
            None if adapter is None else adapter._core,
            wait_for_review,
            on_unavailable,
            payment_is_idempotent,
            is_definite_failure,
            on_unreported,
            is_async=False,
        )
        return run(spend(self._core, request, pay, options))


class AsyncPurser(_Base[httpx2.AsyncClient], AsyncNouns):
    """
    A client of the service with one key, for asyncio. Makes no connection until it is used; safe to share between
    tasks and event loops, and usable after a fork.
    """

    def _init(self, options: Mapping[str, Any], shared: Connections | None) -> None:
        settings, connections = self._settle(options, shared, is_async=True)
        AsyncNouns.__init__(self, AsyncCore(settings, connections))

    def with_options(self, **options: Unpack[AsyncPurserOptions]) -> AsyncPurser:
        """The same client but for these options. Shares its connections unless the address is another one."""
        return self._changed(options)

    async def close(self) -> None:
        """Closes the connections of the running event loop; the next call makes new ones. An `http_client` stays open."""
        await self._core.connections.aclose()

    async def __aenter__(self) -> AsyncPurser:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, object] | None = None,
        body: object = None,
        **call: Unpack[CallOptions],
    ) -> Response:
        """
        Calls a route that has no method of its own. A POST is sent again after a lost connection only with an
        `idempotency_key`. Raises as every method does.
        """
        return _response(await run_async(self._core.send(_call_of(method, path, query, body, call))))

    async def authorize(self, request: SpendRequest, *, wait_for_review: float = 0.0) -> Authorization:
        """
        Asks, and waits for a person for up to `wait_for_review` seconds when a review is due. Never pays. Gives the
        leave to make the spend; raises a `SpendError` when there is none, `PurserUnavailable` when Purser cannot be asked.
        """
        return await run_async(authorize(self._core, request, wait_for_review))

    @overload
    async def spend(
        self,
        request: SpendRequest,
        pay: Callable[[Grant], Awaitable[P]],
        *,
        adapter: AsyncPurser | None = ...,
        wait_for_review: float = ...,
        on_unavailable: OnUnavailable = ...,
        payment_is_idempotent: bool = ...,
        is_definite_failure: Callable[[BaseException], object] | None = ...,
        on_unreported: Callable[[Unreported], object] | None = ...,
    ) -> Spent[P]: ...

    @overload
    async def spend(
        self,
        request: SpendRequest,
        pay: Callable[[Grant], P],
        *,
        adapter: AsyncPurser | None = ...,
        wait_for_review: float = ...,
        on_unavailable: OnUnavailable = ...,
        payment_is_idempotent: bool = ...,
        is_definite_failure: Callable[[BaseException], object] | None = ...,
        on_unreported: Callable[[Unreported], object] | None = ...,
    ) -> Spent[P]: ...

    async def spend(
        self,
        request: SpendRequest,
        pay: Callable[[Grant], Any],
        *,
        adapter: AsyncPurser | None = None,
        wait_for_review: float = 0.0,
        on_unavailable: OnUnavailable = "refuse",
        payment_is_idempotent: bool = False,
        is_definite_failure: Callable[[BaseException], object] | None = None,
        on_unreported: Callable[[Unreported], object] | None = None,
    ) -> Spent[Any]:
        """
        Asks, waits, pays at most once for each `idempotency_key`, reports. Returns only when the money moved. Raises a
        `SpendError`, a `PurserUnavailable` or an `APIError`; of these only `SpendUncertain` and `SpendUnfinished` leave
        open whether money moved. What raises in `pay` proves nothing, unless it is a `PaymentFailed` or
        `is_definite_failure` gives True for it. `on_unavailable` says what to do when Purser cannot be asked: 'refuse';
        'pay_if_shadow', when this process has seen the agent in SHADOW within the hour; or a function that gives 'pay'.
        """
        if adapter is not None and not isinstance(adapter, AsyncPurser):
            raise TypeError("adapter must be an AsyncPurser client whose key has the scope consume")
        options = checked_options(
            None if adapter is None else adapter._core,
            wait_for_review,
            on_unavailable,
            payment_is_idempotent,
            is_definite_failure,
            on_unreported,
            is_async=True,
        )
        return await run_async(spend(self._core, request, pay, options))
