"""Files of LangChain tools that are served as they are answer every call as they do in a graph of LangGraph."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import BaseTool as LangChainTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command

from sidecall import tool
from tests.conformance.as_is import graph_style
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient

# LangChain's, for any runtime.
pytestmark = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")

CONTEXT = {"user_id": "ada", "plan": "gold"}
CALLS: list[tuple[str, dict[str, Any], list[Any]]] = [
    ("get_weather", {"city": "Rome"}, []),
    ("get_weather_async", {"city": "Rome"}, []),
    ("save_user_info", {"key": "age", "value": 3}, []),
    ("save_user_info_async", {"key": "age", "value": 3}, []),
    ("whoami", {}, []),
    ("which_thread", {}, []),
    ("human_assistance", {"query": "How?"}, [{"data": "Like this."}]),
    ("send_email", {"to": "bo", "subject": "hi"}, [{"action": "approve"}]),
    ("send_email", {"to": "bo", "subject": "hi"}, [{"action": "approve", "to": "cy", "subject": "ho"}]),
    ("send_email", {"to": "bo", "subject": "hi"}, [{"action": "reject"}]),
    ("book_hotel", {"hotel_name": "Ritz"}, [True]),
    ("book_hotel", {"hotel_name": "Ritz"}, [False]),
    ("book_hotel", {"hotel_name": "Ritz"}, ["yes"]),
    ("ask_age", {"name": "Bo"}, [42]),
    ("ask_age", {"name": "Bo"}, ["old", -1, [1], 42]),
    ("ship", {"order": "o1"}, [{"street": "High St", "number": "3"}]),
    ("pay", {"to": "bo"}, [1.5]),
    ("pay", {"to": "bo", "amount": 3, "why": "debt"}, ["ok"]),
]


class Graph:
    """A graph that runs one call of one tool."""

    def __init__(self, it: Any) -> None:
        """Build it."""
        builder = StateGraph(MessagesState, context_schema=graph_style.Context)
        builder.add_node("tools", ToolNode([it], handle_tool_errors=False))
        builder.add_edge(START, "tools")
        self._graph = builder.compile(checkpointer=InMemorySaver(), store=InMemoryStore())
        self._config: Any = {"configurable": {"thread_id": "c1"}}
        self.written: list[Any] = []

    async def run(self, given: Any) -> Any:
        """Run it until it stops; return what the tool answers, or what it asks."""
        asked: list[Any] = []
        async for mode, part in self._graph.astream(
            given, self._config, context=graph_style.Context(**CONTEXT), stream_mode=["custom", "values"]
        ):
            if mode == "custom":
                self.written.append(part)
            asked = [it.value for it in part.get("__interrupt__", ())] if mode == "values" else asked
            last = part if mode == "values" else None
        if asked:
            return "asked", asked[0]
        return "answered", last["messages"][-1].content


class Server:
    """A server that has the same tool as it is."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        """Ask this server."""
        self._client = client
        self.written: list[Any] = []
        self.place = ""

    async def run(self, call: dict[str, Any]) -> Any:
        """Send the call."""
        async with self._client.stream(
            "POST",
            "/tool_calls",
            json={**call, "context": CONTEXT},
            headers={"Accept": "text/event-stream", "Sidecall-Conversation": "c1"},
        ) as response:
            events = list(_read_events((await response.aread()).decode()))
        self.written += [_read_text(data["message"]) for name, data in events if name == "progress"]
        name, data = events[-1]
        if name == "approval":
            self.place = f"/approvals/{data['id']}"
            return "asked", data["payload"]
        return "answered", data["content"]

    async def resume(self, reply: Any) -> Any:
        """Approve, with what LangGraph resumes with, as JSON."""
        words = {} if reply is True else {"reason": json.dumps(reply)}
        decided = (await self._client.post(self.place, json={"decision": "approve", **words})).json()
        if decided["status"] == "pending":
            return "asked", decided["payload"]
        return "answered", decided["message"]["content"]


def _read_events(text: str) -> Iterator[tuple[str, Any]]:
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line and not line.startswith(":"))
        if "event" in lines:
            yield lines["event"], json.loads(lines["data"])


def _read_text(message: str) -> Any:
    return json.loads(message) if message.startswith("{") else message


@pytest.mark.parametrize(("name", "args", "replies"), CALLS, ids=lambda it: it if isinstance(it, str) else None)
async def test_a_tool_answers_as_in_a_graph(
    make_client: MakeClient, name: str, args: dict[str, Any], replies: list[Any]
) -> None:
    """The same answers, questions and progress."""
    it = getattr(graph_style, name)
    graph, server = Graph(it), Server(await make_client(tool(it)))
    call = write_call(name, **args)

    home = [await graph.run({"messages": [AIMessage("", tool_calls=[call])]})]
    ours = [await server.run(call)]
    for reply in replies:
        home.append(await graph.run(Command(resume=reply)))
        ours.append(await server.resume(reply))

    assert ours == home
    assert server.written == graph.written
    assert [kind for kind, _ in ours] == [*["asked"] * len(replies), "answered"]


def test_all_of_the_file_is_tried() -> None:
    """Each of its tools."""
    tools = {it.name for it in vars(graph_style).values() if isinstance(it, LangChainTool)}

    assert tools == {name for name, *_ in CALLS}
