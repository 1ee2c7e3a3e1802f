"""A deprecated tool says so in every listing and answer."""

from typing import Any

import pytest

from sidecall import tool
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient

TEXT = "Add one.\n\nDeprecated: Use sum."


@tool
async def add(a: int) -> int:
    """Add one."""
    return a + 1


@tool("add", deprecated="Use sum.")
async def leaving(a: int) -> int:
    """Add one."""
    return a + 1


@pytest.mark.parametrize("form", ["openai", "openai-responses", "anthropic", "gemini", "mcp", "json_schema"])
async def test_every_listing_says_so(make_client: MakeClient, form: str) -> None:
    """In the description, which all models read."""
    [listed] = (await (await make_client(leaving)).get("/tools", params={"format": form})).json()
    said: Any = listed.get("function") or listed.get("functionDeclarations", [listed])[0]

    assert said["description"] == TEXT
    assert said.get("deprecated") == (True if form == "json_schema" else None)
    assert said.get("_meta") == ({"sidecall/deprecated": "Use sum."} if form == "mcp" else None)


async def test_its_contract_is_the_same(make_client: MakeClient) -> None:
    """Calls that are pinned to it go on."""
    shown = [(await (await make_client(it)).get("/tools/add")).json() for it in (add, leaving)]

    assert shown[0]["hash"] == shown[1]["hash"]
    assert [it["deprecated"] for it in shown] == [None, "Use sum."]


@pytest.mark.parametrize("args", [{"a": 1}, {"a": "x"}])
async def test_answers_say_so_to_the_program(make_client: MakeClient, args: dict[str, Any]) -> None:
    """Also those of calls that failed; others say nothing."""
    told = [
        (await (await make_client(it)).post("/tool_calls", json=write_call("add", **args))).json()["response_metadata"]
        for it in (add, leaving)
    ]

    assert [it.get("deprecated") for it in told] == [None, "Use sum."]
