"""Settings come from the environment, are checked, and each has an effect."""

import asyncio
import logging
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from sidecall import BaseTool, tool
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.features.processes.large_tools import packed
from tests.kit.clients import MakeClient

TOOL = 'from sidecall import tool\n\n\n@tool\ndef {name}() -> str:\n    """Answer."""\n    return "{name}"\n'
NOTHING = "Value error, {tenat} stands for nothing; write {tenant} for the caller's tenant"


@tool
def thread_name(number: int) -> str:
    """Say which thread this is.

    Args:
        number: Of the call.
    """
    return threading.current_thread().name


@tool(requires_approval=True)
async def ask(number: int) -> str:
    """Wait for a person.

    Args:
        number: Of the call.
    """
    return f"did {number}"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("host", "0.0.0.0", "0.0.0.0"),
        ("host", "[::1] ", "::1"),
        ("port", "0", 0),
        ("tools", "tools, ./my_tools.py ,acme.tools,", ("tools", "./my_tools.py", "acme.tools")),
        ("tools", ",", ()),  # only installed packages
        ("entry_points", "false", False),
        ("workers", "4", 4),
        ("reload", "1", True),
        ("mcp", "false", False),
        ("mcp_servers", "mcp.json", "mcp.json"),
        ("mcp_connect_timeout", "5", 5.0),
        ("mcp_max_tools", "10", 10),
        ("mcp_pin", "on", True),
        ("mcp_pins_file", "/pins.json", Path("/pins.json")),
        ("threads", "1", 1),
        ("processes", "1", 1),
        ("memory_limit_mb", "64", 64),
        ("tool_timeout", "0.5", 0.5),
        ("secrets_dir", "/", Path("/")),
        ("file_search_folder", "/", "/"),
        ("file_search_folder", "/nowhere/{tenant}", "/nowhere/{tenant}"),
        ("workspace_dir", "/nowhere/yet", Path("/nowhere/yet")),
        ("store", "sqlite:///ledger.db", "sqlite:///ledger.db"),
        ("approval_ttl", "0.5", 0.5),
        ("max_approvals", "1", 1),
        ("max_waiting_bytes", "1024", 1024),
        ("max_unread_bytes", "1024", 1024),
        ("max_store_bytes", "0", 0),
        ("max_item_bytes", "1", 1),
        ("max_body_bytes", "1024", 1024),
        ("max_body_bytes_in_flight", "1024", 1024),
        ("max_json_values", "100", 100),
        ("max_result_bytes", "1024", 1024),
        ("max_batch", "1", 1),
        ("max_connections", "1", 1),
        ("keep_alive", "1", 1),
        ("header_timeout", "1", 1),
        ("body_timeout", "1", 1),
        ("drain_grace", "0", 0),
        ("drain_timeout", "0", 0),
        ("stuck_after", "0.1", 0.1),
        ("worker_silent_after", "0", 0),
        ("log_level", "debug", "debug"),
        (
            "hosts",
            "Tools.example.com, *.example.org,10.0.0.1,[::1],::1,a_b,*",
            ("Tools.example.com", "*.example.org", "10.0.0.1", "[::1]", "::1", "a_b", "*"),
        ),
        (
            "origins",
            "https://App.example.com:443/ ,http://a:80,http://a:8000,chrome-extension://abc",
            ("https://app.example.com", "http://a", "http://a:8000", "chrome-extension://abc"),
        ),
    ],
)
def test_each_is_read_from_the_environment(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, value: object
) -> None:
    """Under its name in capitals, with the prefix."""
    monkeypatch.setenv(f"SIDECALL_{name.upper()}", text)

    assert getattr(Settings(), name) == value


def test_what_is_given_beats_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line comes that way."""
    monkeypatch.setenv("SIDECALL_TOOLS", "elsewhere")

    assert Settings(tools=("here",)).tools == ("here",)


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("port", "-1", "Input should be greater than or equal to 0"),
        ("port", "65536", "Input should be less than or equal to 65535"),
        ("port", "http", "Input should be a valid integer, unable to parse string as an integer"),
        ("entry_points", "perhaps", "Input should be a valid boolean, unable to interpret input"),
        ("workers", "0", "Input should be greater than or equal to 1"),
        ("threads", "0", "Input should be greater than or equal to 1"),
        ("processes", "0", "Input should be greater than or equal to 1"),
        ("memory_limit_mb", "0", "Input should be greater than or equal to 1"),
        ("tool_timeout", "0", "Input should be greater than 0"),
        ("tool_timeout", "inf", "Input should be a finite number"),
        ("tool_timeout", "nan", "Input should be a finite number"),
        ("approval_ttl", "0", "Input should be greater than 0"),
        ("approval_ttl", "inf", "Input should be a finite number"),
        ("max_approvals", "0", "Input should be greater than or equal to 1"),
        ("max_waiting_bytes", "1023", "Input should be greater than or equal to 1024"),
        ("max_unread_bytes", "1023", "Input should be greater than or equal to 1024"),
        ("max_store_bytes", "-1", "Input should be greater than or equal to 0"),
        ("max_item_bytes", "0", "Input should be greater than or equal to 1"),
        ("max_body_bytes", "1023", "Input should be greater than or equal to 1024"),
        ("max_json_values", "99", "Input should be greater than or equal to 100"),
        ("max_result_bytes", "1023", "Input should be greater than or equal to 1024"),
        ("max_batch", "0", "Input should be greater than or equal to 1"),
        ("max_connections", "0", "Input should be greater than or equal to 1"),
        ("keep_alive", "0", "Input should be greater than or equal to 1"),
        ("header_timeout", "0.9", "Input should be greater than or equal to 1"),
        ("body_timeout", "0.9", "Input should be greater than or equal to 1"),
        ("drain_grace", "-1", "Input should be greater than or equal to 0"),
        ("drain_timeout", "inf", "Input should be a finite number"),
        ("stuck_after", "0", "Input should be greater than or equal to 0.1"),
        ("worker_silent_after", "-1", "Input should be greater than or equal to 0"),
        ("secrets_dir", "/nowhere", "Value error, there is no such folder, or it may not be read"),
        ("secrets_dir", "/etc/passwd", "Value error, there is no such folder, or it may not be read"),
        ("file_search_folder", "/nowhere", "Value error, there is no such folder, or it may not be read"),
        ("file_search_folder", "/etc/passwd", "Value error, there is no such folder, or it may not be read"),
        ("file_search_folder", "/tmp/{tenat}", NOTHING),
        ("file_search_folder", "/tmp/{tenant}/{tenat}", NOTHING),
        ("workspace_dir", "/etc/passwd", "Value error, this is no folder"),
        ("workspace_dir", "/etc/passwd/below", "Value error, /etc/passwd is no folder"),
        ("log_level", "loud", "Input should be 'debug', 'info', 'warning' or 'error'"),
    ],
)
def test_a_value_out_of_range_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, text: str, complaint: str) -> None:
    """The error names the setting."""
    monkeypatch.setenv(f"SIDECALL_{name.upper()}", text)

    with pytest.raises(ValidationError) as caught:
        Settings()

    assert [(error["loc"], error["msg"]) for error in caught.value.errors()] == [((name,), complaint)]


def test_a_setting_that_does_not_exist_is_refused() -> None:
    """A typing error would be silent otherwise."""
    with pytest.raises(ValidationError, match="Extra inputs are not permitted"):
        Settings(prot=80)  # type: ignore[call-arg]


def test_settings_do_not_change() -> None:
    """The parts of the server may keep them."""
    with pytest.raises(ValidationError, match="Instance is frozen"):
        Settings().port = 80  # type: ignore[misc]


def test_tools_are_loaded_from_the_places(here: Path) -> None:
    """The setting `tools`."""
    (here / "mine.py").write_text(TOOL.format(name="one"))

    app = create_app(Settings(tools=("mine.py",)))

    assert app.state.parts.registry.names == ["one"]


@pytest.mark.parametrize(("entry_points", "names"), [(True, ["of_acme"]), (False, [])])
def test_installed_packages_may_be_left_out(here: Path, entry_points: bool, names: list[str]) -> None:
    """The setting `entry_points`."""
    (here / "acme_tools.py").write_text(TOOL.format(name="of_acme"))
    (here / "acme-1.0.dist-info").mkdir()
    (here / "acme-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (here / "acme-1.0.dist-info/entry_points.txt").write_text("[sidecall.tools]\nacme = acme_tools\n")
    sys.path.append(str(here))

    app = create_app(Settings(tools=(), entry_points=entry_points))

    assert app.state.parts.registry.names == names


async def test_sync_tools_share_so_many_threads(make_client: MakeClient) -> None:
    """The setting `threads`."""
    client = await make_client(thread_name, threads=1)
    calls = [{"name": "thread_name", "args": {"number": number}} for number in range(8)]

    messages = (await client.post("/tool_calls/batch", json=calls)).json()

    assert {message["content"] for message in messages} == {"sidecall-tool_0"}


async def test_a_tool_may_take_so_long(make_client: MakeClient) -> None:
    """The setting `tool_timeout`."""
    never = threading.Event()

    @tool
    def hang() -> str:
        """Wait for what does not come."""
        never.wait(10)
        return "late"

    client = await make_client(hang, tool_timeout=0.01)

    message = (await client.post("/tool_calls", json={"name": "hang", "args": {}})).json()
    never.set()

    assert message["content"] == "Error: hang timed out after 0.01 seconds."


@pytest.mark.parametrize(("ttl", "status"), [(1e-9, "expired"), (1000.0, "pending")])
async def test_a_call_may_wait_so_long(make_client: MakeClient, ttl: float, status: str) -> None:
    """The setting `approval_ttl`."""
    client = await make_client(ask, approval_ttl=ttl)

    waiting = await client.post("/tool_calls", json={"name": "ask", "args": {"number": 1}})
    response = await client.get(waiting.headers["Location"])

    assert (waiting.status_code, response.status_code, response.json()["status"]) == (202, 200, status)


@pytest.mark.parametrize(("most", "status"), [(1, 503), (2, 202)])
async def test_so_many_calls_may_wait(make_client: MakeClient, most: int, status: int) -> None:
    """The setting `max_approvals`."""
    client = await make_client(ask, max_approvals=most)

    await client.post("/tool_calls", json={"name": "ask", "args": {"number": 1}})
    response = await client.post("/tool_calls", json={"name": "ask", "args": {"number": 2}})

    assert response.status_code == status


@pytest.mark.parametrize(
    "made",
    [packed, tool("packed", response_format="content_and_artifact")(packed.func)],
    ids=["process", "thread"],
)
async def test_an_artifact_may_be_so_large(make_client: MakeClient, made: BaseTool) -> None:
    """The setting `max_result_bytes`; the bound is the same wherever the tool runs."""
    client = await make_client(made, max_result_bytes=1024, processes=1)

    answers = [
        (await client.post("/tool_calls", json={"name": "packed", "args": {"count": count}})).json()
        for count in (280, 281)
    ]

    assert [answer["status"] for answer in answers] == ["success", "error"]
    assert answers[1]["content"] == (
        "Error: packed returned an artifact of 1,027 bytes as JSON; at most 1,024 are passed on."
    )


@pytest.mark.parametrize(
    ("level", "is_logged"),
    [("debug", True), ("info", True), ("warning", False), ("error", False)],
)
async def test_less_severe_lines_are_not_logged(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture, level: Any, is_logged: bool
) -> None:
    """The setting `log_level`."""
    await make_client(log_level=level)

    logging.getLogger("sidecall").info("a line")

    assert (caplog.messages == ["a line"]) is is_logged


@pytest.mark.parametrize(("reload", "is_watching"), [(True, True), (False, False)])
async def test_files_are_watched_or_not(
    here: Path, caplog: pytest.LogCaptureFixture, reload: bool, is_watching: bool
) -> None:
    """The setting `reload`."""
    (here / "mine.py").write_text(TOOL.format(name="one"))
    app = create_app(Settings(tools=("mine.py",), reload=reload))

    async with app.router.lifespan_context(app):
        await asyncio.sleep(0)  # lets the watcher begin

    assert (caplog.messages == [f"watching {here}"]) is is_watching
