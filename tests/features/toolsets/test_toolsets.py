"""Each caller is offered its part of the tools, on both ways, and asked for by name a part is a filter."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import Caller, Registry, ToolCall, tool
from sidecall.features.toolsets.toolset_file import InvalidToolsets, read_toolsets
from sidecall.kernel.core.call_record import CallRecord
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.sender import Sender
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import BOTH_WAYS
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient

FILE = """
[support]
tools = ["search_orders", "refund_*"]
tags = ["read"]
without = ["refund_all"]
callers = ["support-*"]

[acme]
without = ["refund_*"]
tenants = ["acme"]

[small]
tools = ["read_log"]
"""
HEADERS = {"caller_header": "X-User", "tenant_header": "X-Tenant"}
SUPPORT, ACME, OTHER = {"X-User": "support-1"}, {"X-User": "ann", "X-Tenant": "acme"}, {"X-User": "ann"}
ALL = ["search_orders", "refund_order", "refund_all", "read_log", "write_log"]


def _offer(name: str, tags: list[str]) -> Any:
    async def do() -> str:
        """Do it."""
        return "done"

    return tool(name, tags=tags)(do)


TOOLS = [_offer(name, ["read"] if name == "read_log" else []) for name in ALL]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Write the file."""
    path = tmp_path / "toolsets.toml"
    path.write_text(FILE)
    return path


async def _list(client: httpx.AsyncClient, headers: dict[str, str], query: str = "") -> list[str]:
    return [it["function"]["name"] for it in (await client.get(f"/tools{query}", headers=headers)).json()]


@BOTH_WAYS
async def test_each_caller_sees_its_toolset(make_client: MakeClient, file: Path) -> None:
    """By names, patterns and tags, without some; from callers without one nothing is hidden; the second time too."""
    client = await make_client(*TOOLS, toolsets=file, **HEADERS)

    for _ in range(2):
        assert await _list(client, SUPPORT) == ["search_orders", "refund_order", "read_log"]
        assert await _list(client, ACME) == ["search_orders", "read_log", "write_log"]
        assert await _list(client, OTHER) == ALL
        assert await _list(client, SUPPORT, "?toolset=small") == ["read_log"]
        assert await _list(client, ACME, "?toolset=support") == ["search_orders", "read_log"]
        assert await _list(client, OTHER, "?toolset=support") == ["search_orders", "refund_order", "read_log"]


@BOTH_WAYS
async def test_a_tool_outside_of_it_answers_as_one_that_is_not_there(make_client: MakeClient, file: Path) -> None:
    """Called, and asked for."""
    client = await make_client(*TOOLS, toolsets=file, **HEADERS)
    without = await make_client(*(it for it in TOOLS if it.name != "refund_all"), toolsets=file, **HEADERS)

    answers = [
        (
            (await server.post("/tool_calls", json=write_call("refund_all"), headers=SUPPORT)).json()["content"],
            (await server.post("/tool_calls/batch", json=[write_call("refund_all")], headers=SUPPORT)).json()[0][
                "content"
            ],
            (await server.get("/tools/refund_all", headers=SUPPORT)).status_code,
        )
        for server in (client, without)
    ]
    refused = await client.post("/tool_calls", json={"wrong": 1}, headers={"X-User": "ann", "X-Tenant": "acme"})

    assert answers[0] == answers[1]
    assert answers[0][2] == 404
    assert "refund" not in refused.text
    assert (await client.post("/tool_calls", json=write_call("refund_all"), headers=OTHER)).json()["content"] == "done"


async def test_one_without_a_name_may_have_a_toolset_too(make_client: MakeClient, tmp_path: Path) -> None:
    """Where authentication is off."""
    path = tmp_path / "toolsets.toml"
    path.write_text('[few]\ntools = ["read_log"]\ncallers = ["*"]\n')
    client = await make_client(*TOOLS, toolsets=path)

    assert await _list(client, {}) == ["read_log"]
    assert (await client.get("/whoami")).json()["toolset"] == "few"


async def test_a_toolset_that_there_is_not_is_refused(make_client: MakeClient, file: Path) -> None:
    """Rather than answered as an empty one, also where there are none at all."""
    for client in (await make_client(*TOOLS, toolsets=file), await make_client(*TOOLS)):
        refused = await client.get("/tools?toolset=none")

        assert (refused.status_code, refused.json()["detail"]) == (404, "There is no toolset 'none'.")


async def test_a_call_that_is_remembered_keeps_its_callers_toolset(file: Path) -> None:
    """So that it runs later with what its caller saw."""
    caller = read_toolsets(file).assign(Caller("support-1"))
    record = CallRecord.of(CallRequest(ToolCall(name="read_log", args={}, id="1"), Sender(caller=caller)), "id")

    assert caller.toolset is not None
    assert CallRecord.from_json(record.to_json()).caller == caller


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[a", "is no TOML"),
        ("a = 1", "is no file of toolsets: a: Input should be a valid dictionary"),
        ('[a]\ntool = ["x"]', "is no file of toolsets: a.tool: Extra inputs are not permitted"),
        ('[a]\ntools = "x"', "is no file of toolsets: a.tools: Input should be a valid list"),
        (
            None,
            "cannot be read: No such file or directory. Write the path of a file of toolsets that the server may read",
        ),
    ],
)
def test_a_file_that_is_none_stops_the_start(tmp_path: Path, text: str | None, complaint: str) -> None:
    """With what is wrong in it."""
    path = tmp_path / "toolsets.toml"
    if text is not None:
        path.write_text(text)

    with pytest.raises(InvalidToolsets) as refused:
        create_app(Settings(toolsets=path), Registry())

    assert complaint in refused.value.message


def test_what_fits_no_tool_is_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """In the log: names, patterns, tags, and what has no tool at all."""
    path = tmp_path / "toolsets.toml"
    path.write_text(FILE + '[none]\ntools = ["refund"]\ntags = ["raed"]\nwithout = ["[ab]*"]\n')
    create_app(Settings(toolsets=path), Registry(TOOLS[3:]))

    assert [record.message for record in caplog.records] == [
        "SIDECALL_TOOLSETS: support names 'search_orders', and there is no such tool",
        "SIDECALL_TOOLSETS: support names 'refund_*', which fits no tool",
        "SIDECALL_TOOLSETS: support names 'refund_all', and there is no such tool",
        "SIDECALL_TOOLSETS: acme names 'refund_*', which fits no tool",
        "SIDECALL_TOOLSETS: none names 'refund', and there is no such tool",
        "SIDECALL_TOOLSETS: none names '[ab]*', which fits no tool",
        "SIDECALL_TOOLSETS: none has the tag 'raed', which no tool has",
        "SIDECALL_TOOLSETS: none is empty: no tool is in it",
    ]


def test_a_file_that_fits_is_not_spoken_of(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nobody reads a log that always complains."""
    create_app(Settings(toolsets=file), Registry(TOOLS))

    assert caplog.records == []
