"""What every call has in common: options, headers, retries, errors, pages, documents, and the key that nothing shows."""

from __future__ import annotations

import asyncio
import json
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from purser import (
    APIConnectionError,
    APIError,
    APITimeoutError,
    AsyncPurser,
    AuthenticationError,
    ConflictError,
    InvalidRequestError,
    PermissionDeniedError,
    Purser,
    RateLimitError,
    RequestEvent,
    _io,
)

KEY = "sk_secret_of_this_test"
Answer = Callable[[httpx2.Request], httpx2.Response]


def client(answer: Answer, **options: Any) -> Purser:
    return Purser(KEY, http_client=httpx2.Client(transport=httpx2.MockTransport(answer)), **options)


def async_client(answer: Answer, **options: Any) -> AsyncPurser:
    transport = httpx2.MockTransport(answer)
    return AsyncPurser(KEY, http_client=httpx2.AsyncClient(transport=transport), **options)


def refusal(status: int, code: str = "some_code", message: str = "No.", **headers: str) -> httpx2.Response:
    body = {"error": {"code": code, "message": message, "request_id": "req_1"}}
    return httpx2.Response(status, json=body, headers={"x-request-id": "req_told", **headers})


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    seconds: list[float] = []
    monkeypatch.setattr(_io, "pause", lambda wait, bell: seconds.append(wait))
    return seconds


@pytest.mark.parametrize(
    ("options", "kind", "named"),
    [
        ({"api_key": 7}, TypeError, "api_key"),
        ({"api_key": "two words"}, ValueError, "api_key"),
        ({"base_url": 7}, TypeError, "base_url"),
        ({"base_url": "ftp://127.0.0.1"}, ValueError, "base_url"),
        ({"base_url": "http://user:word@127.0.0.1"}, ValueError, "base_url"),
        ({"base_url": "http://127.0.0.1/?a=b"}, ValueError, "base_url"),
        ({"base_url": "http://127.0.0.1:port"}, ValueError, "base_url"),
        ({"base_url": "http://purser.internal"}, ValueError, "base_url"),
        ({"timeout": "10"}, TypeError, "timeout"),
        ({"timeout": True}, TypeError, "timeout"),
        ({"timeout": 0}, ValueError, "timeout"),
        ({"timeout": float("nan")}, ValueError, "timeout"),
        ({"max_retries": 1.5}, TypeError, "max_retries"),
        ({"max_retries": -1}, ValueError, "max_retries"),
        ({"default_headers": ["a"]}, TypeError, "default_headers"),
        ({"default_headers": {"a": "b\r\nc: d"}}, ValueError, "default_headers"),
        ({"on_request": 7}, TypeError, "on_request"),
        ({"allow_insecure": "yes", "base_url": "http://a.example"}, TypeError, "allow_insecure"),
        ({"http_client": 7}, TypeError, "http_client"),
    ],
)
@pytest.mark.parametrize("make", [Purser, AsyncPurser])
def test_a_wrong_option_is_named(
    make: type[Any], options: dict[str, Any], kind: type[Exception], named: str
) -> None:
    with pytest.raises(kind, match=named):
        make(**{"api_key": KEY, **options})


def test_key_and_address_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PURSER_API_KEY", raising=False)
    with pytest.raises(ValueError, match="PURSER_API_KEY"):
        Purser()
    monkeypatch.setenv("PURSER_API_KEY", "sk_env")
    monkeypatch.setenv("PURSER_BASE_URL", "https://purser.example/base/")
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, json={})

    Purser(http_client=httpx2.Client(transport=httpx2.MockTransport(answer))).workspace.retrieve()
    assert str(seen[0].url) == "https://purser.example/base/v1/workspace"
    assert seen[0].headers["x-api-key"] == "sk_env"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "a.localhost", "[::1]"])
def test_loopback_needs_no_encryption(host: str) -> None:
    Purser(KEY, base_url=f"http://{host}:8080")


@pytest.mark.parametrize(
    ("call", "kind", "named"),
    [
        (lambda purser: purser.decisions.retrieve(".."), ValueError, "id"),
        (lambda purser: purser.instruments.assign("card-a", {"agent": "a"}), ValueError, "instrument"),
        (lambda purser: purser.decisions.retrieve(""), ValueError, "id"),
        (lambda purser: purser.decisions.retrieve(7), TypeError, "id"),
        (lambda purser: purser.decisions.list(limit=[None]), TypeError, "limit"),
        (lambda purser: purser.decisions.create({"a": {1, 2}}), TypeError, "body"),
        (lambda purser: purser.decisions.create({"a": float("inf")}), ValueError, "body"),
        (lambda purser: purser.decisions.create({}, idempotency_key="ä"), ValueError, "idempotency_key"),
        (lambda purser: purser.decisions.create({}, request_id="a b"), ValueError, "request_id"),
        (lambda purser: purser.decisions.create({}, timeout=-1), ValueError, "timeout"),
        (lambda purser: purser.decisions.create({}, retries=1), TypeError, "retries"),
        (lambda purser: purser.capabilities.consume({}), TypeError, "idempotency_key"),
        (lambda purser: purser.request("get", "/v1/a"), ValueError, "method"),
        (lambda purser: purser.request("GET", "v1/a"), ValueError, "path"),
        (lambda purser: purser.request("GET", "/v1/a?b=c"), ValueError, "path"),
    ],
)
def test_a_wrong_argument_is_named_before_anything_is_sent(
    call: Callable[[Any], object], kind: type[Exception], named: str
) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        raise AssertionError("something was sent")

    with pytest.raises(kind, match=named):
        call(client(answer))


def test_headers_are_the_clients_the_calls_and_its_own() -> None:
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(200, json={})

    purser = client(answer, default_headers={"X-A": "1", "X-B": "1", "X-Api-Key": "other"})
    purser.agents.authority.set(
        "bot", {"purpose": {"objective": "ä"}, "currency": "EUR"}, if_match="sha256:0", headers={"x-b": "2"}
    )
    headers = seen[0].headers
    assert (headers["x-a"], headers["x-b"], headers["x-api-key"]) == ("1", "2", KEY)
    assert headers["if-match"] == '"sha256:0"'
    assert headers["content-type"] == "application/json"
    assert headers["accept"] == "application/json, */*;q=0.1"
    assert headers["user-agent"].startswith("purser-python/")
    assert headers["x-request-id"].startswith("sdk_")
    assert "idempotency-key" not in headers
    assert json.loads(seen[0].content) == {"purpose": {"objective": "ä"}, "currency": "EUR"}


def test_a_file_is_sent_as_it_is_and_again_after_an_interruption(slept: list[float]) -> None:
    seen: list[tuple[str, bytes]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append((request.headers["content-type"], request.read()))
        return refusal(500) if len(seen) == 1 else httpx2.Response(200, json={"id": "imp_1"})

    purser = client(answer)
    text = "Date,Amount\n2026-03-02,\N{EURO SIGN}5\n".encode()
    assert purser.imports.put_content("imp_1", text, content_type="text/csv")["id"] == "imp_1"
    assert seen == [("text/csv", text)] * 2
    wrong: Any = text.decode()
    with pytest.raises(TypeError, match="file must be bytes"):
        purser.imports.detect(wrong, content_type="text/csv")


def test_a_query_leaves_out_what_is_not_given() -> None:
    seen: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request.url.query.decode())
        return httpx2.Response(200, json={"data": [], "next_cursor": None})

    client(answer).decisions.list(decision=["ALLOW", "DENY"], reviewed=False, from_="2026-01-01", limit=5)
    client(answer).decisions.list(label=["customer:Doe, John", "team:a\\b"])
    assert seen == [
        "decision=ALLOW%2CDENY&reviewed=false&from=2026-01-01&limit=5",
        "label=customer%3ADoe%5C%2C+John%2Cteam%3Aa%5C%5Cb",
    ]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, InvalidRequestError),
        (401, AuthenticationError),
        (403, PermissionDeniedError),
        (404, APIError),
        (409, ConflictError),
        (422, APIError),
    ],
)
def test_a_refusal_is_an_error_of_its_class(status: int, kind: type[APIError]) -> None:
    purser = client(lambda _: refusal(status, message="action.currency: is unknown"))
    with pytest.raises(kind) as caught:
        purser.decisions.create({"action": {}}, idempotency_key="order-1")  # type: ignore[typeddict-item]
    error = caught.value
    assert type(error) is kind
    assert (error.status, error.code, error.retryable) == (status, "some_code", False)
    assert (error.request_id, error.idempotency_key) == ("req_told", "order-1")
    if isinstance(error, InvalidRequestError):
        assert error.field == "action.currency"


def test_too_many_requests_say_when_to_come_back(slept: list[float]) -> None:
    with pytest.raises(RateLimitError) as caught:
        client(lambda _: refusal(429, **{"retry-after": "61"})).workspace.retrieve()
    assert (caught.value.retry_after, slept) == (61, [])


@pytest.mark.parametrize("status", [408, 500, 502, 504])
def test_a_post_that_is_no_repeat_is_not_sent_again(status: int, slept: list[float]) -> None:
    sent: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(request.method)
        return refusal(status)

    purser = client(answer)
    with pytest.raises(APIError):
        purser.agents.create({"slug": "bot"})
    assert (sent, slept) == (["POST"], [])
    with pytest.raises(APIError):
        purser.agents.retrieve("bot")
    assert sent == ["POST", "GET", "GET", "GET"]
    assert 0.375 <= slept[0] <= 0.625
    assert 0.75 <= slept[1] <= 1.25


def test_503_is_sent_again_unless_it_may_have_been_carried_out(slept: list[float]) -> None:
    answers = [refusal(503), httpx2.Response(201, json={})]
    client(lambda _: answers.pop(0)).agents.create({"slug": "bot"})
    assert len(slept) == 1
    with pytest.raises(APIError):
        client(lambda _: refusal(503, **{"purser-outcome": "unknown"})).agents.create({"slug": "bot"})
    assert len(slept) == 1


def test_a_date_to_come_back_is_read_by_the_services_clock(slept: list[float]) -> None:
    when = {"retry-after": "Fri, 27 Nov 2026 10:00:05 GMT", "date": "Fri, 27 Nov 2026 10:00:00 GMT"}
    answers = [refusal(429, **when), httpx2.Response(200, json={})]
    client(lambda _: answers.pop(0)).workspace.retrieve()
    assert slept == [5]


@pytest.mark.parametrize("text", ["<html>", "", "7", "[" * 100_000])
def test_what_is_no_object_of_json_is_no_answer(text: str) -> None:
    with pytest.raises(APIConnectionError):
        client(lambda _: httpx2.Response(200, content=text), max_retries=0).workspace.retrieve()


def test_a_redirect_is_not_followed() -> None:
    sent: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        sent.append(str(request.url))
        return httpx2.Response(302, headers={"location": "https://elsewhere.example/"})

    with pytest.raises(APIConnectionError, match="redirect"):
        client(answer, max_retries=0).workspace.retrieve()
    assert len(sent) == 1


def test_a_late_answer_is_a_timeout() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        raise httpx2.ReadTimeout("late")

    with pytest.raises(APITimeoutError):
        client(answer, max_retries=0).workspace.retrieve(timeout=0.5)


def test_an_answer_that_drips_ends_with_the_attempts_time(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(1000))
    monkeypatch.setattr(_io, "now", lambda: float(next(seconds)))

    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=(b"{" for _ in range(100)))

    with pytest.raises(APITimeoutError):
        client(answer, max_retries=0, timeout=5).workspace.retrieve()


def test_lists_are_pages_and_iterate_over_all_of_them() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        at = int(request.url.params.get("cursor", "0"))
        assert request.url.params["limit"] == "2"
        return httpx2.Response(
            200,
            json={
                "data": [{"id": f"k{at}"}, {"id": f"k{at + 1}"}],
                "next_cursor": None if at == 4 else str(at + 2),
            },
        )

    page = client(answer).api_keys.list(limit=2)
    assert [each["id"] for each in page] == ["k0", "k1", "k2", "k3", "k4", "k5"]
    second = page.get_next_page()
    assert (len(page.data), page.has_next_page(), [each["id"] for each in second.data]) == (
        2,
        True,
        ["k2", "k3"],
    )
    with pytest.raises(ValueError, match="last page"):
        second.get_next_page().get_next_page()

    async def walk() -> None:
        pages = async_client(answer).api_keys.list(limit=2)
        assert [each["id"] async for each in pages] == ["k0", "k1", "k2", "k3", "k4", "k5"]
        first = await pages
        assert [each["id"] async for each in await first.get_next_page()] == ["k2", "k3", "k4", "k5"]

    asyncio.run(walk())


def test_a_whole_document_comes_line_by_line() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, content=(each for each in [b"a\nb", b"c\n", b"d"]))

    with client(answer).decisions.export(format="jsonl") as lines:
        assert list(lines) == ["a", "bc", "d"]
    with pytest.raises(AuthenticationError), client(lambda _: refusal(401)).ledger.export():
        raise AssertionError("there is no document")


def test_a_request_gives_the_whole_answer() -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        headers = {"x-request-id": "req_told", "idempotent-replay": "true"}
        return httpx2.Response(200, json=[1], headers=headers)

    got = client(answer).request("POST", "/v1/new", query={"a": 1}, body={}, idempotency_key="a")
    assert (got.data, got.status, got.request_id, got.replayed) == ([1], 200, "req_told", True)


def test_events_are_told_of_and_a_hook_that_fails_decides_nothing(slept: list[float]) -> None:
    events: list[RequestEvent] = []

    def hook(event: RequestEvent) -> None:
        events.append(event)
        raise RuntimeError("broken")

    answers = [refusal(503), httpx2.Response(200, json={})]
    client(lambda _: answers.pop(0), on_request=hook).workspace.retrieve()
    assert [(event.type, event.attempt, event.status) for event in events] == [
        ("request", 1, None),
        ("response", 1, 503),
        ("retry", 1, None),
        ("request", 2, None),
        ("response", 2, 200),
    ]


def test_with_options_changes_only_these() -> None:
    seen: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return refusal(503)

    purser = client(answer, max_retries=0, default_headers={"x-a": "1"}).with_options(api_key="sk_other")
    with pytest.raises(APIError):
        purser.workspace.retrieve()
    assert [(each.headers["x-api-key"], each.headers["x-a"]) for each in seen] == [("sk_other", "1")]
    with pytest.raises(TypeError, match="apikey"):
        purser.with_options(apikey="sk_other")  # type: ignore[call-arg]


@pytest.mark.parametrize("make", [Purser, AsyncPurser])
def test_the_key_is_shown_nowhere(make: type[Any]) -> None:
    purser = make(KEY)
    shown = [repr(purser), repr(vars(purser)), repr(vars(purser.decisions)), repr(vars(purser._core))]
    shown += [repr(vars(purser._core.settings)), repr(vars(purser._core.connections))]
    assert KEY not in "".join(shown)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="pickled"):
            pickle.dumps(purser, protocol)


def test_the_key_is_in_no_traceback_not_even_with_the_variables_of_its_frames() -> None:
    purser = Purser(KEY, base_url="http://127.0.0.1:9", max_retries=0)
    with pytest.raises(APIConnectionError) as caught:
        purser.workspace.retrieve()
    told = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    text = "".join(told.format())
    assert "_attempt" in text
    assert KEY not in text


def test_an_event_loop_has_connections_of_its_own(service_url: str) -> None:
    from .conftest import ADMIN_KEY

    purser = AsyncPurser(ADMIN_KEY, base_url=service_url)

    async def ask() -> str:
        try:
            return (await purser.workspace.retrieve())["plan"]
        finally:
            await purser.close()

    assert [asyncio.run(ask()), asyncio.run(ask())] == ["enterprise", "enterprise"]


def test_the_import_takes_no_framework_and_little_time_beside_httpx2() -> None:
    program = "import sys, purser; print(sorted(name for name in sys.modules if '.' not in name))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    for name in ("pydantic", "langchain", "crewai", "agents", "claude_agent_sdk", "google"):
        assert f"'{name}'" not in loaded
