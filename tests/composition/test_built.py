"""What a feature gives to a server: checks, executors, observers, tools, methods, problems, and models of bodies."""

from typing import Any

import httpx
import pytest

from sidecall import tool
from tests.composition.conftest import Install
from tests.features.mcp_server.messages import ask
from tests.kit.clients import MakeClient

SOURCE = '''
import json

from pydantic import BaseModel
from sidecall import tool
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.executors.base import InlineExecutor


class Closed(RequestError):
    """The shop is closed."""

    problem = (409, "shop-closed")
    kind = "denied"
    headers = {"X-Opens": "tomorrow"}


class Haggle(BaseModel):
    """What to offer."""

    price: int


class Loud(InlineExecutor):
    """Where threads were."""

    def run(self, invocation):
        return shout(invocation)


async def shout(invocation):
    return "SHOUTED"


async def refuse_later():
    raise Closed("Come back tomorrow.")


def refuse(request, tool):
    if request.context.get("hour") == "night":
        raise Closed("Come back tomorrow.")
    return refuse_later() if request.context.get("hour") == "dusk" else None


def is_shop(tool):
    return "shop" in tool.options.tags


class Ends:
    """Notes each end."""

    def __init__(self):
        self.seen = []

    def begin(self, invocation):
        return len(self.seen)

    def note(self, invocation, outcome, seconds, begun):
        self.seen.append([invocation.tool.name, outcome, begun])


ends = Ends()


@tool
async def count_ends() -> int:
    """Count."""
    return len(ends.seen)


async def list_ends(parts, message, exchange):
    return json.dumps({"ends": ends.seen, "asked": message.params.get("kind")}).encode()


def build(host):
    return Built(
        checks=[Check(refuse, is_shop)],
        executors={"thread": Loud()},
        observers=[ends],
        tools=[count_ends.compiled],
    )


FEATURE = Feature(
    name="extra",
    build=build,
    forms=("extra_feature:Haggle",),
    mcp_methods={"extra/ends": "extra_feature:list_ends"},
)
'''


@tool(tags=["shop"])
async def buy(thing: str) -> str:
    """Buy."""
    return f"bought {thing}"


@tool
async def look(thing: str) -> str:
    """Look."""
    return f"seen {thing}"


@tool
def sing(thing: str) -> str:
    """Sing."""
    return thing


def call(name: str, hour: str) -> dict[str, Any]:
    """Call a tool at an hour of the day."""
    return {"name": name, "args": {"thing": "tea"}, "id": name, "context": {"hour": hour}}


@pytest.fixture
async def client(install: Install, make_client: MakeClient) -> httpx.AsyncClient:
    """Give a client of a server with the feature."""
    install(SOURCE)
    return await make_client(buy, look, sing)


async def test_a_check_refuses_calls_before_they_run(client: httpx.AsyncClient) -> None:
    """Those of the tools that it is for, also where it waits and where the call would go on alone."""
    answers = [
        (await client.post("/tool_calls", json=call(name, hour), headers=headers)).status_code
        for name, hour, headers in [
            ("buy", "day", {}),
            ("buy", "night", {}),
            ("buy", "dusk", {}),
            ("buy", "night", {"Prefer": "respond-async"}),
            ("buy", "dusk", {"Accept": "text/event-stream"}),
            ("look", "night", {}),
        ]
    ]

    assert answers == [200, 409, 409, 409, 409, 200]


async def test_an_error_says_which_problem_it_is(client: httpx.AsyncClient) -> None:
    """With headers of its own; in a batch it harms no other call."""
    refused = await client.post("/tool_calls", json=call("buy", "night"))
    among = await client.post("/tool_calls/batch", json=[call("buy", "night"), call("look", "night")])

    problem = refused.json()
    assert (refused.status_code, refused.headers["X-Opens"]) == (409, "tomorrow")
    assert (problem["type"], problem["title"]) == ("urn:sidecall:problem:shop-closed", "The shop is closed.")
    assert problem["detail"] == "Come back tomorrow."
    assert [each["status"] for each in among.json()] == ["error", "success"]
    assert among.json()[0]["response_metadata"]["error"]["kind"] == "denied"


async def test_an_executor_takes_the_place_of_the_kernels(client: httpx.AsyncClient) -> None:
    """For the tools that would have run there."""
    answers = [(await client.post("/tool_calls", json=call(name, "day"))).json() for name in ("sing", "look")]

    assert [answer["content"] for answer in answers] == ["SHOUTED", "seen tea"]


async def test_models_of_bodies_are_in_the_document(client: httpx.AsyncClient) -> None:
    """Though no route says so."""
    document = (await client.get("/openapi.json")).json()

    assert document["components"]["schemas"]["Haggle"]["description"] == "What to offer."


async def test_an_observer_notes_how_calls_end(client: httpx.AsyncClient) -> None:
    """Beside the history, and not those that were refused; a method of MCP tells what it has noted."""
    for name, args in (("look", {"thing": "tea"}), ("look", {}), ("buy", {"thing": "tea"})):
        await client.post("/tool_calls", json={"name": name, "args": args, "context": {"hour": "night"}})

    told = (await ask(client, "extra/ends", kind="all")).json()["result"]

    assert told == {"ends": [["look", "success", 0], ["look", "invalid_arguments", 1]], "asked": "all"}


async def test_a_tool_of_the_server_is_called_and_not_listed(client: httpx.AsyncClient) -> None:
    """As its own search tools are."""
    listed = [each["function"]["name"] for each in (await client.get("/tools")).json()]
    answer = (await client.post("/tool_calls", json={"name": "count_ends", "args": {}})).json()

    assert (listed, answer["content"]) == (["buy", "look", "sing"], "0")
