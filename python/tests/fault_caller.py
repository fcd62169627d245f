"""
A process that spends, for sdk/tests/fault-run.ts: told what to call, a line of JSON each, it tells how each call ended. Calls are
sync and async by turns. It may be killed at any moment.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2

from purser import APIError, AsyncPurser, Grant, PaymentFailed, Purser

SETTINGS: dict[str, Any] = json.loads(sys.argv[1])
VARIANT: dict[str, Any] = SETTINGS["variant"]
OPTIONS: dict[str, Any] = {"base_url": SETTINGS["base_url"], "timeout": 60}
LIMITS = httpx2.Limits(max_connections=None)
writing = threading.Lock()


def say(line: dict[str, object]) -> None:
    with writing:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


def consume_body(grant: Grant) -> Any:
    token = "" if grant.capability is None else grant.capability.get("token", "")
    return {"token": token, "amount_minor": grant.amount_minor, "currency": grant.currency}


def has_adapter_behind_the_token(grant: Grant) -> bool:
    return not VARIANT.get("adapter") and grant.capability is not None and not VARIANT.get("token_unused")


def payment_of(answer: httpx2.Response) -> dict[str, str]:
    reference = answer.json()["reference"]
    if answer.status_code == 402:
        raise PaymentFailed("declined")
    return {"external_reference": reference}


def order_of(request: dict[str, Any], grant: Grant) -> dict[str, Any]:
    name = request["idempotency_key"]
    return {"name": name, "key": grant.payment_key if VARIANT.get("idempotent") else None}


def spend_options(adapter: object) -> dict[str, Any]:
    every_failure = (
        {"is_definite_failure": lambda _: True} if VARIANT.get("every_failure_is_definite") else {}
    )
    with_adapter = {"adapter": adapter} if VARIANT.get("adapter") else {}
    return {"payment_is_idempotent": VARIANT.get("idempotent", False), **with_adapter, **every_failure}


def ended_with(error: BaseException) -> str:
    cause = error.__cause__
    if isinstance(cause, APIError) and cause.code == "capability_used":
        return "SpendUnfinished"
    return type(error).__name__


sync_http = httpx2.Client(limits=LIMITS, timeout=60, trust_env=False)
sync_purser = Purser(SETTINGS["agent_key"], http_client=sync_http, **OPTIONS)
sync_adapter = sync_purser.with_options(api_key=SETTINGS["adapter_key"])


def spend_sync(request: Any) -> str:
    def pay(grant: Grant) -> dict[str, str]:
        if has_adapter_behind_the_token(grant):
            # The adapter behind the token: it consumes before it pays, under a name of this very try.
            sync_adapter.capabilities.consume(consume_body(grant), idempotency_key=str(uuid.uuid4()))
        return payment_of(sync_http.post(SETTINGS["rail_url"], json=order_of(request, grant)))

    ended: str = sync_purser.spend(request, pay, **spend_options(sync_adapter)).status
    return ended


def async_spender() -> Callable[[Any], Awaitable[str]]:
    http = httpx2.AsyncClient(limits=LIMITS, timeout=60, trust_env=False)
    purser = AsyncPurser(SETTINGS["agent_key"], http_client=http, **OPTIONS)
    adapter = purser.with_options(api_key=SETTINGS["adapter_key"])

    async def spend(request: Any) -> str:
        async def pay(grant: Grant) -> dict[str, str]:
            if has_adapter_behind_the_token(grant):
                await adapter.capabilities.consume(consume_body(grant), idempotency_key=str(uuid.uuid4()))
            return payment_of(await http.post(SETTINGS["rail_url"], json=order_of(request, grant)))

        ended: str = (await purser.spend(request, pay, **spend_options(adapter))).status
        return ended

    return spend


def call_sync(job: int, request: Any) -> None:
    try:
        ended = spend_sync(request)
    except Exception as error:
        ended = ended_with(error)
    say({"job": job, "ended": ended})


async def call_async(spend: Callable[[Any], Awaitable[str]], job: int, request: Any) -> None:
    try:
        ended = await spend(request)
    except Exception as error:
        ended = ended_with(error)
    say({"job": job, "ended": ended})


async def main() -> None:
    spend = async_spender()
    loop = asyncio.get_running_loop()
    tasks: set[asyncio.Task[None]] = set()
    say({"ready": True})
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        told = json.loads(line)
        job, request = told["job"], dict(told["request"])
        request["idempotency_key"] = request.pop("idempotencyKey")
        if job % 2 == 0:
            threading.Thread(target=call_sync, args=(job, request), daemon=True).start()
            continue
        task = asyncio.ensure_future(call_async(spend, job, request))
        tasks.add(task)
        task.add_done_callback(tasks.discard)


if __name__ == "__main__":
    asyncio.run(main())
