from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode

from frameworks.purchases import Conversation, Kind, check_stays_shut, check_ten_purchases
from purser.guards.langchain import purser_middleware


class ScriptedModel(BaseChatModel):
    talk: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        last = messages[-1]
        order = self.talk.next(last.text if isinstance(last, ToolMessage) else None)
        calls = [] if order is None else [{"name": "buy", "args": order, "id": f"call-{len(messages)}"}]
        message = AIMessage("done" if order is None else "", tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


def tool_of(talk: Conversation) -> Any:
    def buy(invoice: str, merchant: str, amount_minor: int, account: str, description: str) -> str:
        """Buys something."""
        return talk.buy(invoice, merchant, amount_minor, account, description)

    return buy


ASKED: Any = {"messages": [{"role": "user", "content": "Keep staging running"}]}
CONFIG: Any = {"recursion_limit": 200}


def agent_of(talk: Conversation) -> Any:
    middleware = purser_middleware(talk.guard_with, {"buy": talk.to_spend})
    return create_agent(ScriptedModel(talk=talk), [tool_of(talk)], middleware=[middleware])


async def drive(talk: Conversation) -> None:
    await agent_of(talk).ainvoke(ASKED, CONFIG)


async def drive_sync(talk: Conversation) -> None:
    agent_of(talk).invoke(ASKED, CONFIG)


async def drive_graph(talk: Conversation) -> None:
    """LangGraph's own tool node."""
    model = ScriptedModel(talk=talk)
    middleware = purser_middleware(talk.guard_with, {"buy": talk.to_spend})
    node = ToolNode(
        [tool_of(talk)], wrap_tool_call=middleware.wrap_tool_call, awrap_tool_call=middleware.awrap_tool_call
    )
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", node)
    graph.add_edge(START, "model")
    graph.add_conditional_edges(
        "model", lambda state: "tools" if getattr(state["messages"][-1], "tool_calls", []) else END
    )
    graph.add_edge("tools", "model")
    await graph.compile().ainvoke(ASKED, CONFIG)


DRIVERS = [
    ("sync", drive_sync, False),
    ("async", drive, True),
    ("mixed", drive, False),
    ("graph", drive_graph, True),
]


@pytest.mark.parametrize(("name", "driver", "is_async"), DRIVERS)
def test_ten_purchases(service_url: str, name: str, driver: Any, is_async: bool) -> None:
    check_ten_purchases(driver, service_url, f"langchain-{name}", is_async=is_async)


@pytest.mark.parametrize(("name", "driver", "is_async"), DRIVERS)
@pytest.mark.parametrize("kind", ["away", "late", "to_spend raises"])
def test_it_stays_shut(kind: Kind, name: str, driver: Any, is_async: bool) -> None:
    check_stays_shut(driver, kind, is_async=is_async)


def test_an_agent_without_await_does_not_run_a_tool_guarded_by_an_async_client() -> None:
    check_stays_shut(drive_sync, "away", is_async=True, status="REFUSED")
