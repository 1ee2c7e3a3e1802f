"""Models find tools by calling the server's own, in each provider's form."""

from typing import Any

import pytest
from anthropic.types import ToolResultBlockParam
from openai.types.responses import ResponseToolSearchOutputItemParam
from pydantic import TypeAdapter

from sidecall import tool
from tests.kit.calls import kind_of, write_call
from tests.kit.clients import MakeClient

BY_WORDS, BY_PATTERN = "tool_search_tool_bm25", "tool_search_tool_regex"


@tool
async def send_mail(to: str) -> str:
    """Send an e-mail."""
    return to


@tool(scopes=["secret"])
async def send_pigeon(to: str) -> str:
    """Send a pigeon."""
    return to


@tool
async def add(a: int, b: int) -> int:
    """Add numbers."""
    return a + b


def write_search(**arguments: Any) -> dict[str, Any]:
    """Write the item by which a model of OpenAI searches."""
    return {"type": "tool_search_call", "call_id": "c1", "execution": "client", "arguments": arguments}


async def send(make_client: MakeClient, call: dict[str, Any], **settings: Any) -> Any:
    """Send one call to a server of these tools."""
    client = await make_client(send_mail, send_pigeon, add, **settings)
    return (await client.post("/tool_calls", json=call)).json()


@pytest.mark.parametrize("arguments", [{"query": "mail"}, {"pattern": "_mail$"}])
async def test_openais_search_is_answered_with_definitions(make_client: MakeClient, arguments: dict[str, Any]) -> None:
    """As its library has the item, and marked as what was deferred."""
    answer = await send(make_client, write_search(**arguments))

    TypeAdapter(ResponseToolSearchOutputItemParam).validate_python(answer)
    assert answer == {
        "type": "tool_search_output",
        "call_id": "c1",
        "execution": "client",
        "status": "completed",
        "tools": [
            {
                "type": "function",
                "name": "send_mail",
                "description": "Send an e-mail.",
                "parameters": {"properties": {"to": {"type": "string"}}, "required": ["to"], "type": "object"},
                "strict": False,
                "defer_loading": True,
            }
        ],
    }


@pytest.mark.parametrize("arguments", [{"query": "zebra"}, {"pattern": "["}, {}])
async def test_openais_search_that_finds_nothing_is_answered_all_the_same(
    make_client: MakeClient, arguments: dict[str, Any]
) -> None:
    """Its item has no place for a failure."""
    assert (await send(make_client, write_search(**arguments)))["tools"] == []


async def test_what_the_provider_has_run_is_no_call(make_client: MakeClient) -> None:
    """It is refused with the reason."""
    answer = await send(make_client, {**write_search(query="mail"), "execution": "server"})

    assert answer["status"] == 422
    assert "already executed by the provider (OpenAI)" in answer["detail"]


@pytest.mark.parametrize(("name", "given"), [(BY_WORDS, {"query": "mail"}), (BY_PATTERN, {"pattern": "(?i)MAIL"})])
async def test_anthropics_search_is_answered_with_references(
    make_client: MakeClient, name: str, given: dict[str, Any]
) -> None:
    """The definitions are there already, deferred."""
    answer = await send(make_client, {"type": "tool_use", "id": "t1", "name": name, "input": given})

    TypeAdapter(ToolResultBlockParam).validate_python(answer)
    assert (answer["content"], answer["is_error"]) == ([{"type": "tool_reference", "tool_name": "send_mail"}], False)


async def test_others_read_names_and_descriptions(make_client: MakeClient) -> None:
    """The program finds the definitions beside."""
    answer = await send(make_client, write_call(BY_WORDS, query="send mail", limit=1))

    assert answer["content"] == "send_mail: Send an e-mail."
    assert [it["name"] for it in answer["artifact"]["tools"]] == ["send_mail"]


async def test_a_pattern_that_is_none_is_told_to_the_model(make_client: MakeClient) -> None:
    """So that it writes another one."""
    answer = await send(make_client, write_call(BY_PATTERN, pattern="a{3}"))

    assert kind_of(answer) == "tool_error"
    assert answer["content"] == "Error: Counted repetitions, such as a{3}, are not taken."


async def test_a_caller_finds_what_it_may_see(make_client: MakeClient) -> None:
    """Though its toolset does not name the search."""
    client = await make_client(send_mail, send_pigeon, add, caller_header="X-Caller", scopes_header="X-Scopes")

    async def find(scopes: str) -> Any:
        headers = {"X-Caller": "ada", "X-Scopes": scopes}
        answer = await client.post("/tool_calls", json=write_call(BY_WORDS, query="send"), headers=headers)
        return sorted(answer.json()["artifact"]["names"])

    assert (await find("tools:call"), await find("tools:call secret")) == (["send_mail"], ["send_mail", "send_pigeon"])


async def test_a_batch_may_hold_searches(make_client: MakeClient) -> None:
    """Each is answered in its form."""
    client = await make_client(send_mail, add)
    calls = [write_search(query="mail"), write_call("add", a=1, b=2)]

    found, added = (await client.post("/tool_calls/batch", json=calls)).json()

    assert ([it["name"] for it in found["tools"]], added["content"]) == (["send_mail"], "3")


async def test_the_search_is_not_listed_and_gives_way(make_client: MakeClient) -> None:
    """To a tool of the author's of its name."""

    @tool(BY_WORDS)
    async def own() -> str:
        """Be the author's."""
        return "mine"

    plain = await make_client(add)
    other = await make_client(own)

    listed = [it["function"]["name"] for it in (await plain.get("/tools")).json()]
    answer = (await other.post("/tool_calls", json=write_call(BY_WORDS))).json()
    assert (listed, answer["content"]) == (["add"], "mine")
