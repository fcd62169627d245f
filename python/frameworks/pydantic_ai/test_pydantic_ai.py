from __future__ import annotations

import pytest
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import UsageLimits

from frameworks.purchases import Conversation, Kind, check_stays_shut, check_ten_purchases
from purser.guards.pydantic_ai import purser_capability


async def drive(talk: Conversation) -> None:
    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        results = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        order = talk.next(results[-1].model_response_str() if results else None)
        return ModelResponse(parts=[TextPart("done") if order is None else ToolCallPart("buy", order)])

    def buy(invoice: str, merchant: str, amount_minor: int, account: str, description: str) -> str:
        """Buys something."""
        return talk.buy(invoice, merchant, amount_minor, account, description)

    capability = purser_capability(talk.guard_with, {"buy": talk.to_spend})
    agent = Agent(FunctionModel(model), tools=[buy], capabilities=[capability])
    await agent.run("Keep staging running", usage_limits=UsageLimits(request_limit=None))


@pytest.mark.parametrize("is_async", [False, True])
def test_ten_purchases(service_url: str, is_async: bool) -> None:
    check_ten_purchases(drive, service_url, f"pydantic-ai-{is_async}".lower(), is_async=is_async)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("kind", ["away", "late", "to_spend raises"])
def test_it_stays_shut(kind: Kind, is_async: bool) -> None:
    check_stays_shut(drive, kind, is_async=is_async)
