from __future__ import annotations

import asyncio
import json
import os
from typing import Any

os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"

import pytest
from crewai import Agent, BaseLLM, Crew, Task
from crewai.tools import tool

from frameworks.purchases import Conversation, Kind, check_stays_shut, check_ten_purchases
from purser.guards.crewai import purser_hooks


class ScriptedModel(BaseLLM):
    talk: Any = None

    def call(self, messages: Any, *_: Any, **__: Any) -> Any:
        said = [str(each["content"]) for each in messages if each["role"] == "assistant"]
        _, found, last = (said[-1] if said else "").rpartition("Observation:")
        order = self.talk.next(last.strip() if found else None)
        if order is None:
            return "Thought: I now know the final answer\nFinal Answer: done"
        return f"Thought: I buy\nAction: buy_things\nAction Input: {json.dumps(order)}"

    def supports_function_calling(self) -> bool:
        return False

    def supports_stop_words(self) -> bool:
        return True

    def get_context_window_size(self) -> int:
        return 1_000_000


async def drive(talk: Conversation) -> None:
    @tool("Buy Things")
    def buy(invoice: str, merchant: str, amount_minor: int, account: str, description: str) -> str:
        """Buys something."""
        return talk.buy(invoice, merchant, amount_minor, account, description)

    remove = purser_hooks(talk.guard_with, {"Buy Things": talk.to_spend})
    try:
        model = ScriptedModel(model="scripted", talk=talk)
        agent = Agent(
            role="buyer",
            goal="Keep staging running",
            backstory="A buyer.",
            llm=model,
            tools=[buy],
            max_iter=60,
        )
        task = Task(description="Buy what is needed", expected_output="done", agent=agent)
        await asyncio.to_thread(Crew(agents=[agent], tasks=[task]).kickoff)
    finally:
        remove()


def test_ten_purchases(service_url: str) -> None:
    check_ten_purchases(drive, service_url, "crewai", is_async=False)


@pytest.mark.parametrize("kind", ["away", "late", "to_spend raises"])
def test_it_stays_shut(kind: Kind) -> None:
    check_stays_shut(drive, kind, is_async=False)


def test_an_async_client_is_refused_and_the_tool_does_not_run() -> None:
    check_stays_shut(drive, "away", is_async=True, status="REFUSED")
