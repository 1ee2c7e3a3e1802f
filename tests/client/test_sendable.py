"""A graph's state goes with those calls that read it, no matter what is in it."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.graph import START, StateGraph
from langgraph.prebuilt import ToolNode

from sidecall.client import RequestUnfit
from sidecall.client.adapters import make_sendable
from tests.client.conftest import OpenTwin
from tests.client.desk import double, recall
from tests.client.test_langchain import answers, load
from tests.client.twins import Twin
from tests.kit.calls import write_call

ODD = {
    "bytes": b"\xff\xfe",
    "numbers": [float("nan"), float("inf"), 2**70],
    "half": "a\ud800b",
    "keys": {(1, 2): 3, 4: 5},
    "set": {1},
    "error": ValueError("no"),
}


async def ask(twin: Twin, name: str, args: dict[str, Any], **state: Any) -> Any:
    """Call a tool in a graph with this state, and return what the model reads."""
    graph = StateGraph(dict)
    graph.add_node("tools", ToolNode(await load(twin)))
    graph.add_edge(START, "tools")
    call = AIMessage("", tool_calls=[write_call(name, **args)])
    return answers(await graph.compile().ainvoke({"messages": [call], **state}))["call_1"].content


def test_what_json_cannot_say_is_said_otherwise() -> None:
    """As servers say what tools return."""
    assert make_sendable(ODD) == {
        "bytes": "__4=",
        "numbers": [None, None, 1180591620717411303424],
        "half": "a?b",
        "keys": {"1,2": 3, "4": 5},
        "set": [1],
        "error": "no",
    }


async def test_a_state_of_any_kind_is_read(open_twin: OpenTwin) -> None:
    """As far as JSON goes."""
    twin = await open_twin(recall)

    assert await ask(twin, "recall", {"key": "half"}, **ODD) == "a?b"


async def test_what_reads_no_state_is_sent_none(open_twin: OpenTwin) -> None:
    """So that not every tool fails when a conversation has grown; those that read it are refused then."""
    twin = await open_twin(double, recall, max_body_bytes=2000)

    assert await ask(twin, "double", {"number": 4}, text="a" * 4000) == "8"
    with pytest.raises(RequestUnfit, match="larger than the 2000 bytes that this server takes"):
        await ask(twin, "recall", {"key": "text"}, text="a" * 4000)
