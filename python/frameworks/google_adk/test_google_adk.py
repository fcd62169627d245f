from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from frameworks.purchases import Conversation, Kind, check_stays_shut, check_ten_purchases
from purser.guards.google_adk import purser_plugin


class ScriptedModel(BaseLlm):
    talk: Any = None

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        parts = (llm_request.contents[-1].parts if llm_request.contents else None) or []
        results = [part.function_response for part in parts if part.function_response is not None]
        order = self.talk.next(json.dumps(results[-1].response) if results else None)
        part = types.Part(text="done")
        if order is not None:
            part = types.Part(function_call=types.FunctionCall(name="buy", args=order))
        yield LlmResponse(content=types.Content(role="model", parts=[part]))


class HandOver(BaseLlm):
    """Gives the work to the sub-agent at once."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        call = types.FunctionCall(name="transfer_to_agent", args={"agent_name": "buyer"})
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(function_call=call)]))


async def _drive(talk: Conversation, is_sub_agent: bool) -> None:
    def buy(invoice: str, merchant: str, amount_minor: int, account: str, description: str) -> str:
        """Buys something."""
        try:
            return talk.buy(invoice, merchant, amount_minor, account, description)
        except Exception as error:
            # An exception of a tool ends the whole run.
            return f"failed: {error}"

    agent = LlmAgent(name="buyer", model=ScriptedModel(model="scripted", talk=talk), tools=[buy])
    if is_sub_agent:
        agent = LlmAgent(name="head", model=HandOver(model="scripted"), sub_agents=[agent])
    plugin = purser_plugin(talk.guard_with, {"buy": talk.to_spend})
    runner = InMemoryRunner(agent, app_name="shop", plugins=[plugin])
    session = await runner.session_service.create_session(app_name="shop", user_id="u")
    message = types.Content(role="user", parts=[types.Part(text="Keep staging running")])
    async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message):
        pass
    await runner.close()


async def drive(talk: Conversation) -> None:
    await _drive(talk, False)


async def drive_sub_agent(talk: Conversation) -> None:
    await _drive(talk, True)


DRIVERS = [("sync", drive, False), ("async", drive, True), ("sub-agent", drive_sub_agent, True)]


@pytest.mark.parametrize(("name", "driver", "is_async"), DRIVERS)
def test_ten_purchases(service_url: str, name: str, driver: Any, is_async: bool) -> None:
    check_ten_purchases(driver, service_url, f"google-adk-{name}", is_async=is_async)


@pytest.mark.parametrize(("name", "driver", "is_async"), DRIVERS)
@pytest.mark.parametrize("kind", ["away", "late", "to_spend raises"])
def test_it_stays_shut(kind: Kind, name: str, driver: Any, is_async: bool) -> None:
    check_stays_shut(driver, kind, is_async=is_async)
