from __future__ import annotations

import json
from typing import Any

import pytest
from agents import Agent, ModelResponse, RunConfig, Runner, Usage, function_tool
from agents.models.interface import Model
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from frameworks.purchases import Conversation, Kind, check_stays_shut, check_ten_purchases
from purser.guards.openai_agents import purser_guardrail


class ScriptedModel(Model):
    def __init__(self, talk: Conversation) -> None:
        self.talk = talk
        self.calls = 0

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        last = input[-1] if isinstance(input, list) else {}
        result = last.get("output") if last.get("type") == "function_call_output" else None
        order = self.talk.next(None if result is None else str(result))
        self.calls += 1
        output: Any
        if order is None:
            text = ResponseOutputText(text="done", type="output_text", annotations=[])
            output = ResponseOutputMessage(
                id="m", content=[text], role="assistant", status="completed", type="message"
            )
        else:
            output = ResponseFunctionToolCall(
                call_id=f"call-{self.calls}", name="buy", arguments=json.dumps(order), type="function_call"
            )
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


async def drive(talk: Conversation) -> None:
    def buy(invoice: str, merchant: str, amount_minor: int, account: str, description: str) -> str:
        """Buys something."""
        return talk.buy(invoice, merchant, amount_minor, account, description)

    tool = function_tool(buy, tool_input_guardrails=[purser_guardrail(talk.guard_with, talk.to_spend)])
    agent = Agent(name="buyer", model=ScriptedModel(talk), tools=[tool])
    config = RunConfig(tracing_disabled=True)
    await Runner.run(agent, "Keep staging running", max_turns=40, run_config=config)


@pytest.mark.parametrize("is_async", [False, True])
def test_ten_purchases(service_url: str, is_async: bool) -> None:
    check_ten_purchases(drive, service_url, f"openai-agents-{is_async}".lower(), is_async=is_async)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("kind", ["away", "late", "to_spend raises"])
def test_it_stays_shut(kind: Kind, is_async: bool) -> None:
    check_stays_shut(drive, kind, is_async=is_async)
