"""Tools are found by questions."""

from pathlib import Path
from typing import Any

import pytest

from sidecall import tool
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient
from tests.rest.routes.listed import NAMED, PARAMETERS, ask, convert, search


@tool
async def look_up(word: str) -> str:
    """Look a word up on the web."""
    return word


async def find(make_client: MakeClient, **params: Any) -> Any:
    """Ask a server of these tools."""
    client = await make_client(search, convert, ask, look_up)
    return await client.get("/tools/search", params=params)


def name_all(definitions: list[Any]) -> list[str]:
    """List the names of functions."""
    return [it["function"]["name"] for it in definitions]


@pytest.mark.parametrize(
    ("params", "names"),
    [
        ({"q": "search the web"}, ["search", "look_up"]),
        ({"q": "web", "limit": "1"}, ["search"]),
        ({"q": "convert lengths"}, ["convert"]),
        ({"q": "math"}, ["ask", "convert"]),
        ({"q": "math", "tag": "slow"}, ["ask"]),
        ({"q": "math", "name": "convert"}, ["convert"]),
        ({"q": "^look", "mode": "regex"}, ["look_up"]),
        ({"q": "zebra"}, []),
    ],
)
async def test_tools_are_found(make_client: MakeClient, params: dict[str, str], names: list[str]) -> None:
    """The best one first."""
    answer = await find(make_client, **params)

    assert (answer.status_code, name_all(answer.json())) == (200, names)


async def test_what_is_found_has_the_providers_form(make_client: MakeClient) -> None:
    """As in the list of all."""
    answer = await find(make_client, q="search", limit=1, format="anthropic")

    assert answer.json() == [{**NAMED, "input_schema": PARAMETERS}]


async def test_without_a_question_it_is_the_tool_of_that_name(make_client: MakeClient) -> None:
    """Which many servers have."""
    assert (await find(make_client)).json()["name"] == "search"


async def test_without_a_question_and_a_tool_of_that_name_there_is_nothing(make_client: MakeClient) -> None:
    """404, as of every tool that there is not."""
    answer = await (await make_client(convert)).get("/tools/search")

    assert (answer.status_code, answer.json()["type"]) == (404, "urn:sidecall:problem:unknown-tool")


@pytest.mark.parametrize(
    ("params", "detail"),
    [
        ({"q": "["}, None),
        ({"q": "[", "mode": "regex"}, "q: This is no regular expression, or one that looks around or back."),
        ({"q": "x" * 201}, "q: String should have at most 200 characters"),
        ({"q": "x", "limit": "101"}, "limit: Input should be less than or equal to 100"),
        ({"q": "x", "mode": "vector"}, "mode: Input should be 'bm25' or 'regex'"),
    ],
)
async def test_a_wrong_question_is_refused(make_client: MakeClient, params: dict[str, str], detail: str | None) -> None:
    """In words anything may be asked."""
    answer = await find(make_client, **params)

    assert (answer.json()["detail"] if answer.status_code == 422 else None) == detail


async def test_nothing_is_found_outside_a_callers_toolset(make_client: MakeClient, tmp_path: Path) -> None:
    """The search itself is in every toolset."""
    path = tmp_path / "toolsets.toml"
    path.write_text('[small]\ntools = ["look_up"]\ncallers = ["ada"]\n')
    client = await make_client(search, look_up, toolsets=path, caller_header="X-Caller")
    headers = {"X-Caller": "ada"}

    answer = await client.get("/tools/search", params={"q": "web"}, headers=headers)
    call = write_call("tool_search_tool_bm25", query="web")
    called = await client.post("/tool_calls", json=call, headers=headers)

    assert name_all(answer.json()) == ["look_up"]
    assert called.json()["artifact"]["names"] == ["look_up"]


async def test_what_is_offered_later_is_found(make_client: MakeClient) -> None:
    """The index is made anew with each change."""
    client = await make_client(convert)
    registry = client._transport.app.state.parts.registry  # type: ignore[attr-defined]

    registry.add(look_up)

    assert name_all((await client.get("/tools/search", params={"q": "web"})).json()) == ["look_up"]
