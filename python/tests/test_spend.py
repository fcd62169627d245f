"""What conformance/spend.json cannot say: threads, tasks and processes, cancelling, and values that break reports."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import threading
from collections.abc import Callable
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any, Literal

import httpx2
import pytest

from purser import (
    AsyncPurser,
    Authorization,
    Grant,
    PaymentFailed,
    Purser,
    PurserUnavailable,
    SpendError,
    SpendPending,
    SpendUncertain,
    SpendUnfinished,
    Unreported,
)
from purser.testing import FakePurser, fake_purser

ACTION = {"type": "purchase", "merchant": "Hetzner Online", "amount_minor": 5440, "currency": "EUR"}
Mode = Literal["SHADOW", "ENFORCE"]
addresses = iter(range(1_000_000))


def request(name: str = "order-1") -> Any:
    return {"idempotency_key": name, "action": ACTION}


def address() -> str:
    """What a process remembers, it remembers by the address."""
    return f"http://p{os.getpid()}-{next(addresses)}.localhost"


def client(fake: FakePurser, base_url: str | None = None, **options: Any) -> Purser:
    return Purser("sk_test", base_url=base_url or address(), http_client=fake.http_client, **options)


def async_client(fake: FakePurser, base_url: str | None = None) -> AsyncPurser:
    return AsyncPurser("sk_test", base_url=base_url or address(), http_client=fake.async_http_client)


CASES = [
    ("ENFORCE", True, False),
    ("ENFORCE", False, False),
    ("SHADOW", False, False),
    ("SHADOW", True, True),
]


@pytest.mark.parametrize(("mode", "with_adapter", "is_one_client"), CASES)
def test_of_fifty_threads_with_one_name_one_pays(mode: Mode, with_adapter: bool, is_one_client: bool) -> None:
    fake, base_url = fake_purser(mode=mode), address()
    shared = client(fake, base_url)
    paid: list[Grant] = []
    ended: list[str] = []
    start = threading.Barrier(50)

    def pay(grant: Grant) -> None:
        paid.append(grant)

    def call() -> None:
        purser = shared if is_one_client else client(fake, base_url)
        start.wait()
        try:
            ended.append(purser.spend(request(), pay, adapter=purser if with_adapter else None).status)
        except SpendError as error:
            ended.append(type(error).__name__)

    threads = [threading.Thread(target=call) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(paid), len(ended), ended.count("paid")) == (1, 50, 1)
    assert set(ended) <= {"paid", "already_paid", "SpendUnfinished"}


@pytest.mark.parametrize(("mode", "with_adapter", "is_one_client"), CASES)
def test_of_fifty_tasks_with_one_name_one_pays(mode: Mode, with_adapter: bool, is_one_client: bool) -> None:
    fake, base_url = fake_purser(mode=mode), address()
    shared = async_client(fake, base_url)
    paid: list[Grant] = []

    async def pay(grant: Grant) -> None:
        paid.append(grant)
        await asyncio.sleep(0)

    async def call() -> str:
        purser = shared if is_one_client else async_client(fake, base_url)
        try:
            spent = await purser.spend(request(), pay, adapter=purser if with_adapter else None)
            return spent.status
        except SpendError as error:
            return type(error).__name__

    async def call_all() -> list[str]:
        return await asyncio.gather(*(call() for _ in range(50)))

    ended = asyncio.run(call_all())
    assert (len(paid), ended.count("paid")) == (1, 1)
    assert set(ended) <= {"paid", "already_paid", "SpendUnfinished"}


def test_of_fifty_threads_that_find_purser_away_one_pays_unguarded() -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("away")

    http_client = httpx2.Client(transport=httpx2.MockTransport(answer))
    purser = Purser("sk_test", base_url=address(), http_client=http_client, max_retries=0)
    paid: list[Grant] = []
    start = threading.Barrier(50)

    def call() -> None:
        start.wait()
        try:
            purser.spend(request(), paid.append, on_unavailable=lambda *_: "pay")
        except PurserUnavailable:
            pass

    threads = [threading.Thread(target=call) for _ in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [grant.payment_key for grant in paid] == ["purser-order-1"]


def _spend_in_child(url: str, agent_key: str, adapter_key: str | None, queue: Any) -> None:
    adapter = None if adapter_key is None else Purser(adapter_key, base_url=url)
    with Purser(agent_key, base_url=url) as purser:
        for _ in range(5):
            try:
                purser.spend(request(), lambda _: queue.put("paid"), adapter=adapter)
            except SpendError:
                pass
    if adapter is not None:
        adapter.close()
    queue.put(None)


@pytest.mark.parametrize("kind", ["fork", "spawn"])
@pytest.mark.parametrize(("mode", "with_adapter"), [("ENFORCE", True), ("ENFORCE", False), ("SHADOW", False)])
def test_of_four_processes_with_one_name_one_pays(
    service_url: str, mode: Mode, with_adapter: bool, kind: str
) -> None:
    from .conftest import ADMIN_KEY, AUTHORITY

    with Purser(ADMIN_KEY, base_url=service_url) as admin:
        slug = f"processes-{mode}-{with_adapter}-{kind}".lower()
        authority: Any = AUTHORITY
        agent = admin.agents.create({"slug": slug, "mode": mode, "authority": authority})
        asks = admin.api_keys.create({"name": slug, "agent_id": agent["id"]})["key"]
        pays = admin.api_keys.create({"name": slug, "scopes": ["consume"]})["key"] if with_adapter else None
    context: Any = multiprocessing.get_context(kind)
    queue = context.Queue()
    children = [
        context.Process(target=_spend_in_child, args=(service_url, asks, pays, queue)) for _ in range(4)
    ]
    for child in children:
        child.start()
    told: list[object] = []
    while told.count(None) < 4:
        told.append(queue.get(timeout=60))
    for child in children:
        child.join()
    assert told.count("paid") == 1


def test_a_client_may_be_used_after_a_fork_and_no_call_is_continued_twice(service_url: str) -> None:
    from .conftest import ADMIN_KEY

    purser = Purser(ADMIN_KEY, base_url=service_url)
    purser.workspace.retrieve()
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, purser.workspace.retrieve()["plan"].encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as told:
        assert told.read() == "enterprise"
    assert purser.workspace.retrieve()["plan"] == "enterprise"
    purser.close()


def test_a_pending_call_is_not_continued_by_a_parent_and_its_child() -> None:
    fake, base_url = fake_purser(mode="ENFORCE"), address()
    fake.decide("REVIEW")
    purser = client(fake, base_url)
    with pytest.raises(SpendPending):
        purser.spend(request(), lambda _: None)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        from purser._memory import MEMORY

        name = purser._core.settings.name_of("", "order-1")
        os.write(writing, b"kept" if MEMORY.resumable.get(name) else b"forgotten")
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as told:
        assert told.read() == "forgotten"


def test_cancelled_before_it_pays_it_has_paid_nothing_and_goes_on_later() -> None:
    fake, base_url = fake_purser(mode="SHADOW"), address()
    paid: list[Grant] = []

    async def spend() -> None:
        asked, gate = asyncio.Event(), asyncio.Event()

        async def hold(_: httpx2.Request) -> httpx2.Response:
            asked.set()
            answer = await fake._handle_async(_)
            await gate.wait()
            return answer

        slow = httpx2.AsyncClient(transport=httpx2.MockTransport(hold))
        purser = AsyncPurser("sk_test", base_url=base_url, http_client=slow)
        task = asyncio.ensure_future(purser.spend(request(), paid.append))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert paid == []
        # The decision was made; in SHADOW only the call that made it may pay.
        assert (await async_client(fake, base_url).spend(request(), paid.append)).status == "paid"

    asyncio.run(spend())
    assert len(paid) == 1


@pytest.mark.parametrize("mode", ["SHADOW", "ENFORCE"])
def test_cancelled_while_it_pays_nothing_is_reported_and_the_hold_stays(mode: Mode) -> None:
    fake, base_url = fake_purser(mode=mode), address()

    async def spend() -> None:
        purser = async_client(fake, base_url)
        paying = asyncio.Event()

        async def pay(_: Grant) -> None:
            paying.set()
            await asyncio.Event().wait()

        task = asyncio.ensure_future(purser.spend(request(), pay, adapter=purser))
        await paying.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(SpendUnfinished):
            await purser.spend(request(), pay, adapter=purser)

    asyncio.run(spend())
    assert fake.outcomes == []
    assert fake.decisions[0]["reservation"]["status"] == "HELD"


def test_cancelled_after_it_paid_the_report_is_finished_first() -> None:
    fake = fake_purser(mode="SHADOW")

    async def spend(fails: bool) -> list[Unreported]:
        unreported: list[Unreported] = []
        reporting = asyncio.Event()
        reports = 0

        async def answer(given: httpx2.Request) -> httpx2.Response:
            nonlocal reports
            if given.url.path.endswith("/outcomes"):
                reports += 1
                reporting.set()
                if reports == 1:
                    await asyncio.Event().wait()
                if fails:
                    raise httpx2.ConnectError("away")
            return await fake._handle_async(given)

        slow = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
        purser = AsyncPurser("sk_test", base_url=address(), http_client=slow)
        name = request(f"order-{fails}")
        task = asyncio.ensure_future(purser.spend(name, lambda _: None, on_unreported=unreported.append))
        await reporting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert reports == 2
        return unreported

    assert asyncio.run(spend(False)) == []
    assert [each["type"] for each in fake.outcomes] == ["SPEND_EXECUTED"]
    assert [each.outcome["type"] for each in asyncio.run(spend(True))] == ["SPEND_EXECUTED"]


def test_an_interrupted_payment_of_a_sync_client_reports_nothing() -> None:
    fake = fake_purser()
    purser = client(fake)

    def pay(_: Grant) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        purser.spend(request(), pay, adapter=purser)
    assert (len(fake.consumed), fake.outcomes) == (1, [])


@pytest.mark.parametrize(
    "payment",
    [
        {"amount_minor": Decimal(5440)},
        {"external_reference": object()},
        {"occurred_at": datetime(2026, 11, 21)},
        {"amount_minor": float("nan")},
        {"external_reference": {"a"}},
    ],
)
def test_a_payment_that_cannot_be_reported_is_paid_all_the_same(payment: Any) -> None:
    fake = fake_purser()
    purser = client(fake)
    told: list[Unreported] = []

    def complain(unreported: Unreported) -> None:
        told.append(unreported)
        raise RuntimeError("broken")

    spent = purser.spend(request(), lambda _: payment, adapter=purser, on_unreported=complain)
    assert (spent.status, spent.outcome, len(told)) == ("paid", None, 1)
    assert told[0].decision_id == fake.decisions[0]["decision_id"]


def test_an_aware_time_is_reported_as_text() -> None:
    fake = fake_purser()
    purser = client(fake)
    at = datetime(2026, 11, 21, 8, 30, tzinfo=timezone.utc)
    spent = purser.spend(request(), lambda _: {"occurred_at": at}, adapter=purser)
    assert spent.outcome is not None
    assert spent.outcome["occurred_at"] == "2026-11-21T08:30:00+00:00"


def test_a_sync_client_refuses_an_async_payment_before_it_asks() -> None:
    fake = fake_purser()

    async def pay(_: Grant) -> None:
        raise AssertionError("nobody awaits it")

    with pytest.raises(TypeError, match="AsyncPurser"):
        client(fake).spend(request(), pay)
    assert fake.decisions == []
    with pytest.raises(SpendUncertain):
        client(fake).spend(request(), lambda grant: pay(grant))
    assert fake.outcomes == []


async def _give(value: object) -> object:
    return value


@pytest.mark.parametrize("gives", [lambda *_: _give(True), lambda *_: 1, lambda *_: "yes"])
def test_only_true_proves_a_failure(gives: Callable[..., object]) -> None:
    fake = fake_purser()
    purser = client(fake)

    def pay(_: Grant) -> None:
        raise PaymentFailed("declined")

    with pytest.raises(SpendUncertain):
        purser.spend(request(), pay, adapter=purser, is_definite_failure=gives)
    assert fake.outcomes == []


def test_a_coroutine_is_no_leave_to_pay_unguarded() -> None:
    def answer(_: httpx2.Request) -> httpx2.Response:
        raise httpx2.ConnectError("away")

    http_client = httpx2.Client(transport=httpx2.MockTransport(answer))
    purser = Purser("sk_test", base_url=address(), http_client=http_client, max_retries=0)
    with pytest.raises(PurserUnavailable):
        purser.spend(request(), lambda _: None, on_unavailable=lambda *_: _give("pay"))


@pytest.mark.parametrize(
    ("options", "kind", "named"),
    [
        ({"adapter": "sk_test"}, TypeError, "adapter"),
        ({"wait_for_review": "1"}, TypeError, "wait_for_review"),
        ({"wait_for_review": -1}, ValueError, "wait_for_review"),
        ({"on_unavailable": "pay"}, ValueError, "on_unavailable"),
        ({"on_unavailable": True}, TypeError, "on_unavailable"),
        ({"payment_is_idempotent": 1}, TypeError, "payment_is_idempotent"),
        ({"is_definite_failure": True}, TypeError, "is_definite_failure"),
        ({"on_unreported": []}, TypeError, "on_unreported"),
    ],
)
def test_a_wrong_option_is_named_before_anything_is_sent(
    options: dict[str, Any], kind: type[Exception], named: str
) -> None:
    fake = fake_purser()
    with pytest.raises(kind, match=named):
        client(fake).spend(request(), lambda _: None, **options)
    wrong: Any
    for wrong, which in (
        (None, "request"),
        ({"action": ACTION}, "idempotency_key"),
        ({"idempotency_key": "a b", "action": ACTION}, "idempotency_key"),
        ({"idempotency_key": "a"}, "action"),
    ):
        with pytest.raises((TypeError, ValueError), match=which):
            client(fake).spend(wrong, lambda _: None)
    assert fake.decisions == []


def test_nothing_shows_the_token() -> None:
    fake = fake_purser()
    purser = client(fake)
    seen: list[object] = [purser.authorize(request("order-2"))]
    seen.append(purser.spend(request(), lambda grant: seen.append(grant), adapter=purser))
    assert isinstance(seen[0], Authorization)
    tokens = [each["capability"]["token"] for each in fake.decisions if each["capability"] is not None]
    assert len(tokens) == 2
    assert not any(token in repr(each) for token in tokens for each in seen)


def test_an_event_wakes_the_spend_that_waits_for_its_decision() -> None:
    fake = fake_purser()
    fake.decide("REVIEW")
    purser = client(fake)
    # Looks that are answered at once: without the event the next would come a second later, and then ever later.
    purser._core.settings.holds_looks = False
    ended: list[str] = []
    waiting = threading.Thread(
        target=lambda: ended.append(
            purser.spend(request(), lambda _: None, adapter=purser, wait_for_review=3_600).status
        )
    )
    waiting.start()
    while not fake.decisions:
        pass
    decision_id = fake.decisions[0]["decision_id"]
    fake.review(decision_id, "ALLOW")
    while waiting.is_alive():
        purser.notify(
            {"id": "evt_1", "type": "decision.review.recorded", "data": {"decision_id": decision_id}}
        )
        waiting.join(0.01)
    assert ended == ["paid"]
    with pytest.raises(TypeError, match="unwrap"):
        purser.notify({"id": "evt_1"})
