"""LiteLLM itself calls a provider of the test, with examples/litellm/purser_lease.py as its proxy would call it."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
import pytest
from litellm.caching.dual_cache import DualCache
from litellm.proxy._types import UserAPIKeyAuth
from litellm.proxy.utils import ProxyLogging

from purser import Purser
from tests.conftest import ADMIN_KEY, ROOT

# USD 10 and 100 for a million tokens: a token of output is a hundredth of a cent.
PRICES = {"input_cost_per_token": 1e-5, "output_cost_per_token": 1e-4, "max_output_tokens": 4_000}
MESSAGES = [{"role": "user", "content": "Say something."}]


class Provider(BaseHTTPRequestHandler):
    """Uses all the output that a call allows, and bills what it says."""

    bodies: ClassVar[list[Any]] = []
    status = 200

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.bodies.append(body)
        usage = {"prompt_tokens": 20, "completion_tokens": body["max_tokens"]}
        answer: Any = {
            **{"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"]},
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Yes."}}
            ],
            "usage": {**usage, "total_tokens": sum(usage.values())},
        }
        if self.status != 200:
            answer = {"error": {"message": "no", "type": "x", "param": None, "code": None}}
        text = json.dumps(answer).encode()
        self.send_response(self.status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def provider_url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    Provider.bodies, Provider.status = [], 200
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def load(service_url: str, agent_key: str, adapter_key: str) -> Any:
    keys = {"PURSER_AGENT_KEY": agent_key, "PURSER_ADAPTER_KEY": adapter_key, "PURSER_BASE_URL": service_url}
    os.environ.update(keys)
    spec = importlib.util.spec_from_file_location(
        "purser_lease", ROOT / "examples" / "litellm" / "purser_lease.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.lease


async def call(lease: Any, provider_url: str, **more: Any) -> Any:
    """As the proxy does: its hook, then its router, which logs."""
    proxy = ProxyLogging(user_api_key_cache=DualCache())
    data: Any = {"model": "openai/purser-test", "messages": MESSAGES, **more}
    data = await proxy.pre_call_hook(user_api_key_dict=UserAPIKeyAuth(), data=data, call_type="completion")
    to = {"model": "openai/purser-test", "api_base": provider_url, "api_key": "sk-provider"}
    router = litellm.Router(model_list=[{"model_name": "openai/purser-test", "litellm_params": to}])
    return await router.acompletion(**data)


def register() -> None:
    """Makes the test's model known to LiteLLM."""
    own = {**PRICES, "litellm_provider": "openai", "mode": "chat", "max_tokens": 4_000}
    litellm.register_model({"openai/purser-test": own})


def make_lease(admin: Purser, service_url: str, slug: str, budget_minor: int) -> Any:
    """The example's callback, for a new agent with this budget."""
    authority: Any = {
        **{"purpose": {"objective": "Answer questions"}, "currency": "USD"},
        **{"monthly_budget_minor": budget_minor, "model_usage": {}},
    }
    agent = admin.agents.create({"slug": slug, "mode": "ENFORCE", "authority": authority})
    agent_key = admin.api_keys.create({"name": slug, "agent_id": agent["id"]})["key"]
    adapter_key = admin.api_keys.create({"name": slug, "scopes": ["consume"]})["key"]
    return load(service_url, agent_key, adapter_key)


def test_calls_of_litellm_stay_within_the_budget(service_url: str, provider_url: str) -> None:
    register()
    with Purser(ADMIN_KEY, base_url=service_url, timeout=60) as admin:
        lease = make_lease(admin, service_url, "litellm", 50)

        async def calls() -> None:
            litellm.callbacks = [lease]
            # 3,000 tokens of output cost 30 cents; the input is billed as well.
            await call(lease, provider_url, max_tokens=3_000)
            await settled(1)
            # What is left pays for fewer tokens.
            await call(lease, provider_url, max_tokens=3_000)
            decisions = await settled(2)
            assert 256 <= Provider.bodies[-1]["max_tokens"] < 3_000
            with pytest.raises(litellm.BudgetExceededError):
                await call(lease, provider_url, max_tokens=3_000)
            with pytest.raises(ValueError, match="text alone"):
                await call(lease, provider_url, tools=[{"type": "web_search"}])
            assert len(Provider.bodies) == 2
            assert "purser_lease" not in json.dumps(Provider.bodies)
            billed = sum(20 * 1e-5 + body["max_tokens"] * 1e-4 for body in Provider.bodies) * 100
            outcomes = [next(iter(admin.decisions.list_outcomes(each["decision_id"]))) for each in decisions]
            assert all(each["source"] == "PAYMENT_RAIL" for each in outcomes)
            counted = sum(each["amount_minor"] or 0 for each in outcomes)
            assert billed <= counted <= 50
            assert billed > 45

        async def settled(count: int) -> list[Any]:
            while True:
                found = [
                    each for each in admin.decisions.list(agent="litellm") if each["decision"] == "ALLOW"
                ]
                held = [each for each in found if each["reservation"]["status"] == "HELD"]
                if len(found) == count and not held:
                    return found
                await asyncio.sleep(0.05)

        asyncio.run(calls())


def test_a_call_that_failed_is_free_only_if_nothing_can_be_billed(
    service_url: str, provider_url: str
) -> None:
    register()
    with Purser(ADMIN_KEY, base_url=service_url, timeout=60) as admin:
        lease = make_lease(admin, service_url, "litellm-errors", 1_000)

        async def failing(status: int) -> str:
            litellm.callbacks = [lease]
            Provider.status = status
            with pytest.raises(Exception):  # noqa: B017
                await call(lease, provider_url, max_tokens=1_000)
            while True:
                [newest, *_] = list(admin.decisions.list(agent="litellm-errors"))
                found = list(admin.decisions.list_outcomes(newest["decision_id"]))
                if found:
                    return found[0]["type"]
                await asyncio.sleep(0.05)

        assert asyncio.run(failing(400)) == "SPEND_CANCELLED"
        assert asyncio.run(failing(500)) == "SPEND_EXECUTED"
        assert len(Provider.bodies) == 2
