"""Every language's client runs one file: what it says of the wire and of the caller holds for each of them."""

from __future__ import annotations

import asyncio
import copy
import itertools
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx2
import pytest

from purser import APIError, AsyncPurser, Authorization, Grant, PaymentFailed, Purser, Spent, _io

FILE = os.environ.get("SPEND_SCENARIOS") or Path(__file__).resolve().parents[2] / "conformance" / "spend.json"
DOCUMENT: dict[str, Any] = json.loads(Path(FILE).read_text(encoding="utf-8"))
SCENARIOS: list[dict[str, Any]] = DOCUMENT["scenarios"]
OPTIONS = {
    "waitForReview": "wait_for_review",
    "paymentIsIdempotent": "payment_is_idempotent",
    "onUnavailable": "on_unavailable",
    "isDefiniteFailure": "is_definite_failure",
}
ERRORS = {
    "PermissionDeniedError": "PermissionError",
    "APIConnectionError": "ConnectionError",
    "APITimeoutError": "TimeoutError",
}


class Error(Exception):
    """What a payment raises that proves nothing."""


class Clock:
    """Stands still but for what is slept."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def pause(self, seconds: float, bell: object) -> None:
        self.now += seconds

    async def pause_async(self, seconds: float, bell: object) -> None:
        self.now += seconds


class Names:
    """The names of a scenario: each is bound where it is first sent."""

    def __init__(self) -> None:
        self.bound: dict[str, str] = {}

    def matches(self, wanted: object, given: object) -> bool:
        if isinstance(wanted, str) and isinstance(given, str):
            return self._matches_text(wanted, given)
        if isinstance(wanted, dict) and isinstance(given, dict):
            return wanted.keys() == given.keys() and all(
                self.matches(each, given[name]) for name, each in wanted.items()
            )
        if isinstance(wanted, list) and isinstance(given, list):
            return len(wanted) == len(given) and all(map(self.matches, wanted, given))
        return type(wanted) is type(given) and wanted == given

    def _matches_text(self, wanted: str, given: str) -> bool:
        fresh: list[str] = []
        pattern = ""
        for part in re.split(r"(\$[a-z]\w*)", wanted):
            if not re.match(r"\$[a-z]", part):
                pattern += re.escape(part)
            elif part in self.bound:
                pattern += re.escape(self.bound[part])
            elif part in fresh:
                pattern += f"\\{fresh.index(part) + 1}"
            else:
                fresh.append(part)
                pattern += "(.+)"
        found = re.fullmatch(pattern, given, re.DOTALL)
        if found is None:
            return False
        self.bound.update(zip(fresh, found.groups()))
        return True

    def fill(self, text: str) -> str:
        return re.sub(r"\$[a-z]\w*", lambda found: self.bound.get(found.group(), found.group()), text)


class ScriptedService:
    """Plays the service: answers each request with the next line, and keeps what did not fit."""

    def __init__(self, lines: list[dict[str, Any]], clock: Clock) -> None:
        self.problems: list[str] = []
        self.lines = lines
        self.used = 0
        self.clock = clock
        self.names = Names()
        self.last = clock.now

    def noting(self, number: int) -> Callable[[str], None]:
        return lambda text: self.problems.append(f"call {number}: {text}")

    def answer(self, by: str, request: httpx2.Request) -> httpx2.Response:
        path = request.url.raw_path.decode()
        what = f"line {self.used + 1}, {by} {request.method} {path}"
        if self.used >= len(self.lines):
            self.problems.append(f"{what}: nothing was to be sent")
            raise httpx2.ConnectError("not in the scenario")
        line = self.lines[self.used]
        self.used += 1
        content = request.read()
        given = {
            "by": by if request.headers.get("x-api-key") == f"sk_{by}" else None,
            "method": request.method,
            "path": path,
            "body": json.loads(content) if content else None,
        }
        for part, value in given.items():
            if part in line and not self.names.matches(line[part], value):
                self.problems.append(f"{what}: {part} is {value!r}")
        for name, wanted in line.get("headers", {}).items():
            if not self.names.matches(wanted, request.headers.get(name)):
                self.problems.append(f"{what}: {name} is {request.headers.get(name)!r}")
        passed = (self.clock.now - self.last) * 1000
        least, most = line.get("after_ms", (0, float("inf")))
        if not least - 1 <= passed <= most + 1:
            self.problems.append(f"{what}: it came after {passed} ms")
        self.last = self.clock.now
        if "answer" not in line or "lost" in line:
            raise httpx2.ReadError(f"{line.get('lost')} lost")
        answer = line["answer"]
        text = answer["text"] if "text" in answer else self.names.fill(json.dumps(answer.get("body")))
        headers = {name: self.names.fill(value) for name, value in answer.get("headers", {}).items()}
        return httpx2.Response(answer["status"], headers=headers, content=text.encode())


class Caller:
    """The caller of one call: its payment, its options, and what became of it."""

    def __init__(self, call: dict[str, Any], problem: Callable[[str], None]) -> None:
        self.call = call
        self.problem = problem
        self.paid: list[Grant] = []
        self.unreported = 0

    def pay(self, grant: Grant) -> object:
        steps = self.call.get("pay", [])
        if len(self.paid) >= len(steps):
            self.problem("pay ran once more")
        step = steps[len(self.paid)] if len(self.paid) < len(steps) else {}
        self.paid.append(grant)
        if "raises" in step:
            raise PaymentFailed("declined") if step["raises"] == "PaymentFailed" else Error("broken")
        return step.get("returns")

    async def pay_async(self, grant: Grant) -> object:
        return self.pay(grant)

    def note(self, _: object) -> None:
        self.unreported += 1

    def request(self) -> Any:
        given = dict(self.call["request"])
        if "idempotencyKey" in given:
            given["idempotency_key"] = given.pop("idempotencyKey")
        return given

    def options(self, adapter: object, *, is_async: bool) -> dict[str, Any]:
        options: dict[str, Any] = {}
        for name, value in self.call.get("options", {}).items():
            if name == "adapter":
                options |= {"adapter": adapter} if value else {}
            elif name == "waitForReview":
                options["wait_for_review"] = value / 1000
            elif isinstance(value, dict):
                options[OPTIONS[name]] = _giver(value["gives"], is_async=is_async)
            else:
                options[OPTIONS[name]] = value
        if self.call.get("do") != "authorize":
            options["on_unreported"] = self.note
        return options

    def compare(self, ended: Spent[Any] | Authorization | Exception) -> None:
        seen: dict[str, object] = {}
        if isinstance(ended, Exception):
            name = type(ended).__name__
            seen["error"] = ERRORS.get(name, name)
            if isinstance(ended, APIError):
                seen["code"] = ended.code
        for name, wanted in self.call["ends"].items():
            value = seen.get(name, getattr(ended, name, None))
            if value != wanted:
                self.problem(f"it ends with {name} {value!r}, not {wanted!r}")
        if "error" in seen and "error" not in self.call["ends"]:
            self.problem(f"it ends with {ended!r}")
        if self.call.get("unreported", self.unreported) != self.unreported:
            self.problem(f"{self.unreported} unreported")
        wanted_grants = self.call.get("paid")
        if wanted_grants is None:
            return
        fits = len(wanted_grants) == len(self.paid) and all(
            getattr(grant, name) == value
            for grant, each in zip(self.paid, wanted_grants)
            for name, value in each.items()
        )
        if not fits:
            self.problem(f"paid {self.paid}")


def _giver(value: object, *, is_async: bool) -> Callable[..., object]:
    async def give_later(*_: object) -> object:
        return value

    return give_later if is_async else lambda *_: value


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(_io, "now", lambda: clock.now)
    monkeypatch.setattr(_io, "pause", clock.pause)
    monkeypatch.setattr(_io, "pause_async", clock.pause_async)
    return clock


ADDRESSES = itertools.count()


def _base_url() -> str:
    """An address of its own: what a process remembers, it remembers by the address."""
    return f"http://s{next(ADDRESSES)}.localhost"


def _play_sync(scenario: dict[str, Any], service: ScriptedService) -> None:
    base_url = _base_url()

    def client(by: str) -> Purser:
        transport = httpx2.MockTransport(lambda request: service.answer(by, request))
        return Purser(
            f"sk_{by}",
            base_url=base_url,
            max_retries=scenario.get("max_retries", 2),
            http_client=httpx2.Client(transport=transport),
        )

    purser, adapter = client("agent"), client("adapter")
    for number, call in enumerate(scenario["calls"], 1):
        caller = Caller(call, service.noting(number))
        options = caller.options(adapter, is_async=False)
        try:
            if call.get("do") == "authorize":
                caller.compare(purser.authorize(caller.request(), **options))
            else:
                caller.compare(purser.spend(caller.request(), caller.pay, **options))
        except Exception as error:
            caller.compare(error)


async def _play_async(scenario: dict[str, Any], service: ScriptedService, *, sync_callbacks: bool) -> None:
    base_url = _base_url()

    def client(by: str) -> AsyncPurser:
        transport = httpx2.MockTransport(lambda request: service.answer(by, request))
        return AsyncPurser(
            f"sk_{by}",
            base_url=base_url,
            max_retries=scenario.get("max_retries", 2),
            http_client=httpx2.AsyncClient(transport=transport),
        )

    purser, adapter = client("agent"), client("adapter")
    for number, call in enumerate(scenario["calls"], 1):
        caller = Caller(call, service.noting(number))
        options = caller.options(adapter, is_async=not sync_callbacks)
        try:
            if call.get("do") == "authorize":
                caller.compare(await purser.authorize(caller.request(), **options))
            else:
                pay: Any = caller.pay if sync_callbacks else caller.pay_async
                caller.compare(await purser.spend(caller.request(), pay, **options))
        except Exception as error:
            caller.compare(error)


def test_the_file_has_scenarios_of_a_version_that_this_runner_reads() -> None:
    assert DOCUMENT["version"] == 1
    assert len(SCENARIOS) >= (1 if "SPEND_SCENARIOS" in os.environ else 60)


def _problems_of(scenario: dict[str, Any], kind: str, clock: Clock) -> list[str]:
    service = ScriptedService(scenario["wire"], clock)
    if kind == "sync":
        _play_sync(scenario, service)
    else:
        asyncio.run(_play_async(scenario, service, sync_callbacks=kind != "async"))
    unused = len(service.lines) - service.used
    return [*service.problems, *([f"{unused} lines unused"] if unused else [])]


@pytest.mark.parametrize("kind", ["sync", "async", "async, plain callbacks"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=[each["name"] for each in SCENARIOS])
def test_scenario(scenario: dict[str, Any], kind: str, clock: Clock) -> None:
    assert _problems_of(scenario, kind, clock) == []


# Each changes what the first scenario expects: who runs the file has to find it.
CHANGES: dict[str, Callable[[dict[str, Any], dict[str, Any], dict[str, Any]], object]] = {
    "how it ends": lambda _, call, line: call["ends"].update(status="already_paid"),
    "that it ends with an error": lambda _, call, line: call.update(ends={"error": "SpendDenied"}),
    "what is paid": lambda _, call, line: call["paid"][0].update(amount_minor=1),
    "how often it is paid": lambda _, call, line: call["paid"].pop(),
    "how many reports fail": lambda _, call, line: call.update(unreported=1),
    "who sends": lambda _, call, line: line.update(by="adapter"),
    "the method": lambda _, call, line: line.update(method="PUT"),
    "the path": lambda _, call, line: line.update(path="/v1/decisions?a=b"),
    "a header": lambda _, call, line: line["headers"].update({"idempotency-key": "order-2"}),
    "the body": lambda _, call, line: line["body"].update(limitable=True),
    "when it is sent": lambda _, call, line: line.update(after_ms=[1_000, 2_000]),
    "a line more": lambda scenario, call, line: scenario["wire"].append(line),
    "a line less": lambda scenario, call, line: scenario["wire"].pop(),
}


@pytest.mark.parametrize("kind", ["sync", "async", "async, plain callbacks"])
@pytest.mark.parametrize("what", CHANGES)
@pytest.mark.skipif(
    "SPEND_SCENARIOS" in os.environ, reason="another file's first scenario may lack what is changed"
)
def test_a_changed_scenario_does_not_hold(what: str, kind: str, clock: Clock) -> None:
    changed = copy.deepcopy(SCENARIOS[0])
    CHANGES[what](changed, changed["calls"][0], changed["wire"][0])
    assert _problems_of(changed, kind, clock) != []
