from __future__ import annotations

import json
import random
import re
import sys
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, Literal, cast
from urllib.parse import quote, urlencode

import httpx2

from . import _io
from ._errors import APIConnectionError, APIError, APITimeoutError, PurserError, error_of
from ._io import CallBack, Pools, Reply, Send, Sleep, Work
from ._options import (
    MAX_SECONDS,
    RequestEvent,
    Settings,
    check_count,
    check_headers,
    check_request_id,
    check_seconds,
    check_text,
)
from ._shapes import SHAPES
from ._version import VERSION

if sys.version_info >= (3, 12):
    from typing import Required, TypedDict
else:
    from typing_extensions import Required, TypedDict


class _CallOptions(TypedDict, total=False):
    #: Of one attempt, in seconds.
    timeout: float | None
    max_retries: int | None
    headers: Mapping[str, str] | None
    #: Sent as `x-request-id` with every attempt; without it each call makes its own.
    request_id: str | None


class CallOptions(_CallOptions, total=False):
    """Options of a single call."""

    #: 1 to 255 visible ASCII characters. Where the route takes one and none is given, each call makes its own.
    idempotency_key: str | None


class KeyedCallOptions(_CallOptions, total=False):
    """Options of a call that has to be named."""

    idempotency_key: Required[str]


@dataclass(frozen=True)
class File:
    """The body of a call that sends a file."""

    content: bytes = field(repr=False)
    content_type: str


@dataclass(frozen=True)
class Call:
    """One call of a route."""

    method: str
    #: With `:name` for each of `params`.
    path: str
    options: Mapping[str, Any]
    params: Mapping[str, str] = field(default_factory=dict[str, str])
    query: Mapping[str, object] = field(default_factory=dict[str, object])
    body: object = None
    file: File | None = None
    #: The route takes an `idempotency-key`: the caller's, or one that this call makes.
    keyed: Literal["call", "by the caller"] | None = None
    #: True if an exact repeat is free. True of every method but POST, and of what is `keyed`.
    repeatable: bool = False
    shape: str | None = None
    accept: str | None = None
    streamed: bool = False
    if_match: str | None = None
    #: Seconds that the service is asked to wait, beyond `timeout`.
    extra: float = 0


@dataclass(frozen=True)
class Answer:
    """A successful answer."""

    status: int
    headers: Mapping[str, str] = field(repr=False)
    #: The parsed JSON; None of an empty body.
    data: Any = field(repr=False)
    request_id: str
    stream: httpx2.Response | None = field(repr=False, default=None)


_OPTIONS = ("idempotency_key", "timeout", "max_retries", "headers", "request_id")
_MAX_RETRY_AFTER = 60.0
_FIRST_WAIT = 0.5
_MAX_WAIT = 8.0
#: The service asks to come back: it may be sent again whatever it was, unless it may have been carried out.
_COME_BACK = (429, 503)
#: Something failed on the way or over there, and the request may have been carried out all the same.
_TRANSIENT = (408, 500, 502, 504)
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
# The name of a card or another instrument; every other parameter of a path is an id or a slug.
_INSTRUMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,31}:[!#-\[\]-~]{1,200}\Z")
#: Sending and reading a long file takes longer than other requests.
FILE_SECONDS = 1_800
#: So do replays of many lines.
REPLAY_SECONDS = 600
_RESERVED = ("accept", "user-agent", "x-api-key", "x-request-id", "content-type", "idempotency-key")


def fresh_id() -> str:
    """An id that no other call has."""
    return f"sdk_{uuid.uuid4()}"


def jittered(seconds: float) -> float:
    """Up to a quarter more or less, so that many clients do not come back at once."""
    return seconds * random.uniform(0.75, 1.25)


def send(settings: Settings, pools: Pools, call: Call) -> Work[Answer]:
    """The first successful answer. Raises a `PurserError`; before anything is sent, a `TypeError` or `ValueError`."""
    options = _checked(call.options)
    path = _path_of(call)
    key = options.get("idempotency_key") or (fresh_id() if call.keyed == "call" else None)
    if call.keyed is not None and key is None:
        raise TypeError(
            "idempotency_key is missing: give the payment a name that stays the same on every attempt"
        )
    request_id = options.get("request_id") or fresh_id()
    content = _content_of(call)
    attempt = Send(
        pools=pools,
        with_key=settings.with_key,
        method=call.method,
        url=f"{settings.base_url}{path}{_query_of(call.query)}",
        headers=_headers_of(settings, call, request_id, key),
        content=content,
        timeout=min(MAX_SECONDS, (options.get("timeout") or settings.timeout) + call.extra),
        streamed=call.streamed,
    )
    given = options.get("max_retries")
    retries = settings.max_retries if given is None else given
    repeatable = call.method != "POST" or call.keyed is not None or call.repeatable
    number = 0
    while True:
        number += 1
        begun = _io.now()
        yield from _tell(settings, RequestEvent("request", call.method, path, number, request_id))
        answer, error = None, None
        try:
            answer = yield from _attempt(attempt, call, request_id, key)
        except PurserError as raised:
            error = raised
        took = _io.now() - begun
        if answer is not None:
            seen = RequestEvent(
                "response", call.method, path, number, request_id, status=answer.status, duration=took
            )
            yield from _tell(settings, seen)
            return answer
        if isinstance(error, APIError):
            seen = RequestEvent(
                "response", call.method, path, number, request_id, status=error.status, duration=took
            )
            yield from _tell(settings, seen)
        assert error is not None
        wait = None if number > retries else _wait_after(error, repeatable, number)
        if wait is None:
            seen = RequestEvent("failure", call.method, path, number, request_id, duration=took, error=error)
            yield from _tell(settings, seen)
            raise error
        seen = RequestEvent("retry", call.method, path, number, request_id, wait=wait, error=error)
        yield from _tell(settings, seen)
        yield Sleep(wait)


def _attempt(attempt: Send, call: Call, request_id: str, key: str | None) -> Work[Answer]:
    try:
        reply: Reply = yield attempt
    except httpx2.TimeoutException as cause:
        raise APITimeoutError(
            f"No response within {attempt.timeout:g} s", request_id=request_id, idempotency_key=key
        ) from cause
    except Exception as cause:
        raise APIConnectionError(
            "The service could not be reached", request_id=request_id, idempotency_key=key
        ) from cause

    def foreign(message: str) -> APIConnectionError:
        return APIConnectionError(message, request_id=request_id, idempotency_key=key)

    status = reply.status
    told = reply.headers.get("x-request-id", request_id)
    if status < 200 or 300 <= status < 400:
        raise foreign("The address is not the service: it responded with a redirect, which was not followed")
    if status >= 400:
        raise error_of(status, reply.headers, reply.text, told, key)
    if reply.stream is not None:
        return Answer(status, reply.headers, None, told, reply.stream)
    data = None
    if status != 204:
        try:
            data = json.loads(reply.text)
        except (ValueError, RecursionError):
            pass
        if not isinstance(data, (dict, list)):
            raise foreign("The response is not JSON: it is incomplete, or the server is not Purser")
    name, holds = SHAPES[call.shape or ("nothing" if call.method == "DELETE" else "object")]
    if not holds(data):
        raise foreign(f"The response is not {name}: the server is not Purser")
    return Answer(status, reply.headers, data, told)


def _tell(settings: Settings, event: RequestEvent) -> Work[None]:
    if settings.on_request is None:
        return
    try:
        given = yield CallBack(settings.on_request, (event,))
        if hasattr(given, "close"):
            given.close()
    except Exception:
        # A hook for logs decides nothing about a payment.
        pass


def _content_of(call: Call) -> bytes | None:
    if call.file is None:
        return None if call.body is None else _json_of(call.body)
    given: object = call.file.content
    if not isinstance(given, bytes):
        raise TypeError(f"file must be bytes, as open(path, 'rb').read() gives, not {type(given).__name__}")
    return call.file.content


def _headers_of(settings: Settings, call: Call, request_id: str, key: str | None) -> dict[str, str]:
    own = check_headers("headers", call.options.get("headers") or {})
    given = {**settings.default_headers, **own}
    headers = {name: text for name, text in given.items() if name not in _RESERVED}
    headers["accept"] = call.accept or "application/json, */*;q=0.1"
    headers["user-agent"] = f"purser-python/{VERSION} python/{sys.version_info[0]}.{sys.version_info[1]}"
    headers["x-request-id"] = request_id
    if call.file is not None:
        headers["content-type"] = call.file.content_type
    elif call.body is not None:
        headers["content-type"] = "application/json"
    if key is not None:
        headers["idempotency-key"] = key
    if call.if_match is not None:
        headers.setdefault("if-match", f'"{check_text("if_match", call.if_match)}"')
    return headers


def _checked(options: Mapping[str, Any]) -> Mapping[str, Any]:
    for name in options:
        if name not in _OPTIONS:
            raise TypeError(f"there is no option {name!r}; the options are {', '.join(_OPTIONS)}")
    key, timeout = options.get("idempotency_key"), options.get("timeout")
    retries, request_id = options.get("max_retries"), options.get("request_id")
    if key is not None:
        check_text("idempotency_key", key)
    if timeout is not None:
        check_seconds("timeout", timeout)
    if retries is not None:
        check_count("max_retries", retries)
    if request_id is not None:
        check_request_id(request_id)
    return options


def _path_of(call: Call) -> str:
    """An id never changes which route is called: `..` or an empty text would."""

    def value_of(found: re.Match[str]) -> str:
        name = found.group(1)
        value: object = call.params[name]
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a str: an id or a slug")
        if name == "instrument":
            if not _INSTRUMENT.match(value):
                raise ValueError('instrument must be "<rail>:<id>" without blanks, quotes and backslashes')
            return quote(value, safe="")
        if not _ID.match(value):
            raise ValueError(f'{name} must be an id or a slug: 1 to 64 letters, digits, "_" and "-"')
        return value

    return re.sub(r":(\w+)", value_of, call.path) if call.params else call.path


def _query_of(query: Mapping[str, object]) -> str:
    given = [(name, _query_text(name, value)) for name, value in query.items() if value is not None]
    return f"?{urlencode(given)}" if given else ""


def _query_text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, Sequence):
        texts = list(cast("Sequence[object]", value))
        if all(isinstance(each, (str, int)) for each in texts):
            return ",".join(re.sub(r"[\\,]", r"\\\g<0>", str(each)) for each in texts)
    raise TypeError(f"{name} must be a str, a number, a bool or a list of texts")


def _json_of(body: object) -> bytes:
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except TypeError as error:
        raise TypeError(f"body: {error}") from None
    except (ValueError, RecursionError) as error:
        raise ValueError(f"body: {error}") from None
    try:
        return text.encode()
    except UnicodeEncodeError:
        # Half a character, which JSON can only spell out.
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()


def _wait_after(error: PurserError, repeatable: bool, attempt: int) -> float | None:
    """How long to wait before the next attempt, or None where the error is final."""
    status = error.status if isinstance(error, APIError) else 0
    headers: Mapping[str, str] = error.headers if isinstance(error, APIError) else {}
    is_open = headers.get("purser-outcome") == "unknown"
    comes_back = status in _COME_BACK and not is_open
    transient = isinstance(error, APIConnectionError) or is_open or status in _TRANSIENT
    if not comes_back and not (transient and repeatable):
        return None
    told = _retry_after(headers)
    if told is not None:
        return told if told <= _MAX_RETRY_AFTER else None
    return jittered(min(_MAX_WAIT, _FIRST_WAIT * 2 ** (attempt - 1)))


def _retry_after(headers: Mapping[str, str]) -> float | None:
    told = headers.get("retry-after")
    if told is None:
        return None
    if re.match(r"[0-9]{1,15}\Z", told):
        return float(told)
    # By the service's clock where it says what that is: ours may be off.
    at, clock = _date_of(told), _date_of(headers.get("date", ""))
    return None if at is None else max(0.0, at - (time() if clock is None else clock))


def _date_of(text: str) -> float | None:
    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
