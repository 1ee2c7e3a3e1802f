"""A tool may say how often each caller may call it, on both ways and over MCP."""

from collections import Counter
from typing import Any

import httpx
import pytest

from sidecall import tool
from sidecall.kernel.core.errors import InvalidToolOption
from tests.features.mcp_server.messages import ask
from tests.kit.asgi import BOTH_WAYS
from tests.kit.clients import MakeClient
from tests.kit.tools import echo

HEADER = "X-User"
ANN, BOB = {HEADER: "ann"}, {HEADER: "bob"}


@tool(rate="2/hour")
async def search(text: str) -> str:
    """Search for a text."""
    return text


@tool(rate="1/hour", is_enabled=lambda caller: caller.subject == "ann")
async def hidden(text: str) -> str:
    """Be there for one caller."""
    return text


@tool(rate="1/hour", idempotency="tool_call_id")
async def pay(text: str) -> str:
    """Pay once."""
    return text


def _call(name: str = "search", call_id: str = "call_1") -> dict[str, Any]:
    return {"name": name, "args": {"text": "hi"}, "id": call_id}


async def _send(client: httpx.AsyncClient, name: str = "search", caller: Any = ANN, **headers: str) -> httpx.Response:
    return await client.post("/tool_calls", json=_call(name), headers={**caller, **headers})


@BOTH_WAYS
async def test_each_caller_may_call_a_tool_so_often(make_client: MakeClient) -> None:
    """Other tools and other callers are not concerned."""
    client = await make_client(search, echo, caller_header=HEADER)

    answers = [await _send(client) for _ in range(3)]
    others = [await _send(client, "echo"), await _send(client, caller=BOB)]

    assert [answer.status_code for answer in [*answers, *others]] == [200, 200, 429, 200, 200]
    assert [answer.headers.get("RateLimit") for answer in [*answers, *others]] == [
        '"calls:search";r=1;t=1800',
        '"calls:search";r=0;t=1800',
        '"calls:search";r=0;t=1800',
        None,
        '"calls:search";r=1;t=1800',
    ]
    assert answers[2].headers["RateLimit-Policy"] == '"calls:search";q=2;w=3600'
    assert answers[2].headers["Retry-After"] == "1800"
    problem = answers[2].json()
    assert (problem["type"], problem["violated-policies"]) == ("urn:sidecall:problem:quota-exceeded", ["calls:search"])
    assert problem["detail"] == (
        "Calls of search that one caller may make in 3600 s: 2. The next one may come in 1800 s."
    )


@BOTH_WAYS
async def test_both_quotas_are_told(make_client: MakeClient) -> None:
    """That of all calls first; a call that its tool refuses counts among them."""
    client = await make_client(search, caller_header=HEADER, rate_limit="10/hour")

    answers = [await _send(client) for _ in range(3)]

    assert answers[0].headers["RateLimit-Policy"] == '"calls";q=10;w=3600, "calls:search";q=2;w=3600'
    assert answers[0].headers["RateLimit"] == '"calls";r=9;t=360, "calls:search";r=1;t=1800'
    assert (answers[2].status_code, answers[2].headers["RateLimit"]) == (429, '"calls:search";r=0;t=1800')
    elsewhere = await _send(client, "nope")
    assert elsewhere.headers["RateLimit"] == '"calls";r=6;t=360'


@BOTH_WAYS
async def test_nobody_learns_by_a_rate_of_a_tool_that_is_hidden(make_client: MakeClient) -> None:
    """It is answered each time as one that there is not."""
    client = await make_client(search, hidden, caller_header=HEADER)

    seen = [await _send(client, "hidden") for _ in range(2)]
    unseen = [await _send(client, "hidden", BOB) for _ in range(3)]

    assert [answer.status_code for answer in seen] == [200, 429]
    assert [answer.json()["response_metadata"]["error"]["kind"] for answer in unseen] == ["unknown_tool"] * 3
    assert [answer.headers.get("RateLimit") for answer in unseen] == [None] * 3


async def test_in_a_batch_the_call_alone_is_refused(make_client: MakeClient) -> None:
    """That of a tool which knows its calls again, too."""
    client = await make_client(search, echo, pay)
    names = ["search", "search", "search", "echo", "pay", "pay"]

    response = await client.post("/tool_calls/batch", json=[_call(name, f"call_{n}") for n, name in enumerate(names)])
    kinds = [answer["response_metadata"].get("error", {}).get("kind") for answer in response.json()]

    assert response.status_code == 200
    # Calls of one tool are not told apart: of two at once either may come first.
    assert Counter(zip(names, kinds, strict=True)) == Counter(
        {
            ("search", None): 2,
            ("search", "overloaded"): 1,
            ("echo", None): 1,
            ("pay", None): 1,
            ("pay", "overloaded"): 1,
        }
    )


async def test_a_job_is_refused_when_it_is_sent(make_client: MakeClient) -> None:
    """With 429 in place of 202; what was accepted runs."""
    client = await make_client(search, caller_header=HEADER)

    answers = [await _send(client, Prefer="respond-async") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [202, 202, 429]
    assert answers[2].headers["RateLimit"] == '"calls:search";r=0;t=1800'


async def test_over_mcp_the_call_alone_is_refused(make_client: MakeClient) -> None:
    """With the headers of REST."""
    client = await make_client(search)
    answers = [await ask(client, "tools/call", name="search", arguments={"text": "hi"}) for _ in range(3)]

    assert [answer.json().get("error", {}).get("code") for answer in answers] == [None, None, 429]
    assert answers[0].headers["RateLimit"] == '"calls:search";r=1;t=1800'
    assert answers[2].headers["RateLimit"] == '"calls:search";r=0;t=1800'


@pytest.mark.parametrize("rate", ["0/minute", "10", "10/week", 10, ""])
def test_what_is_no_rate_is_refused(rate: Any) -> None:
    """When the tool is made."""
    with pytest.raises(InvalidToolOption, match="rate"):
        tool("bad", description="Bad.", rate=rate)(lambda: None)
