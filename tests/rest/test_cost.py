"""An ordinary request makes no more function calls than were counted once, however busy the machine is.

A change that makes the way of a call shorter, or longer for a good reason, writes the new number here.
"""

import asyncio
import json
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from sidecall import Registry, ToolContext, tool
from sidecall.http.application import Application
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.kernel.pipeline import batch as batches
from sidecall.loading.discovery import discover
from sidecall.loading.toolkits import TOOLKITS, find_files
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import Passing, Peer, exchange, scope_of, sized
from tests.kit.callers.keys import write_keys
from tests.kit.tools import echo
from tests.rest.forms import FORMS

_CALL_OFTEN = b'{"name": "report_often", "args": {"times": %d}, "id": "call_1"}'
CALL = b'{"name": "echo", "args": {"text": "hello"}, "id": "call_1"}'
# Python functions that are entered or gone on with, from the server's call of the application to its return.
COUNTED = {"POST /tool_calls": 67, "GET /tools": 14}
# The same at other doors, once the server is ready.
DOORS_COUNTED = {"POST /tools/echo/call": 65, "GET /tools/echo": 16, "GET /healthz": 13, "GET /readyz": 41}
# The same of a call in each form.
FORMS_COUNTED = {"langchain": 67, "openai": 75, "openai-responses": 75, "anthropic": 74, "gemini": 76}
ALLOWED = 1.1


@tool
async def report_often(times: int, context: ToolContext) -> str:
    """Tell of progress, and then let the loop have its turn."""
    for number in range(times):
        context.report_progress(number, times, "on the way")
    await asyncio.sleep(0)
    return "done"


async def _count(app: Application, target: str, *headers: tuple[str, str], call: bytes = CALL) -> int:
    """Count the calls of a request like some that were answered before."""
    method, _, path = target.partition(" ")
    body = call if method == "POST" else b""
    scope = scope_of(method, path, [*(sized(body) if body else []), *headers])
    for _ in range(2):  # The first makes the listing, the second its headers.
        assert (await exchange(app, scope | {"state": {}}, body)).status == 200
    # The smallest, since the collector may come in between.
    return min([await _count_once(app, scope, body) for _ in range(3)])


async def _count_once(app: Application, scope: dict[str, Any], body: bytes) -> int:
    count = 0

    def note(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call"

    peer = Peer([body])
    again = {**scope, "state": {}}
    sys.setprofile(note)
    try:
        await app.serve(again, peer.receive, peer.send)
    finally:
        sys.setprofile(None)
    assert peer.status == 200
    return count


@pytest.mark.parametrize("target", COUNTED)
async def test_a_request_costs_no_more_than_it_did(target: str) -> None:
    """Give or take a tenth."""
    app = create_app(Settings(), Registry([echo]))

    assert await _count(app, target) <= COUNTED[target] * ALLOWED


@pytest.mark.parametrize("form", FORMS)
async def test_a_call_costs_about_the_same_in_every_form(form: str) -> None:
    """Its bytes are read in one step, and its answer is written in one."""
    app = create_app(Settings(), Registry([echo]))
    call = json.dumps(FORMS[form]("echo", {"text": "hello"})).encode()

    assert await _count(app, "POST /tool_calls", call=call) <= FORMS_COUNTED[form] * ALLOWED


@pytest.mark.parametrize(("size", "counted"), [(1, 85), (5, 458), (100, 7_138)])
async def test_a_batch_costs_little_more_than_its_calls(
    monkeypatch: pytest.MonkeyPatch, size: int, counted: int
) -> None:
    """What it takes for itself is paid once."""
    monkeypatch.setattr(batches, "_TURN", 600.0)  # However busy the machine is.
    app = create_app(Settings(store="memory://", history="off"), Registry([echo]))
    batch = b"[" + b",".join([CALL] * size) + b"]"

    assert await _count(app, "POST /tool_calls/batch", call=batch) <= counted * ALLOWED


@pytest.mark.parametrize("target", DOORS_COUNTED)
async def test_other_doors_are_as_short(target: str) -> None:
    """They are in front of the framework, too."""
    app = create_app(Settings(store="memory://", history="off"), Registry([echo]), Lifecycle())

    async with app.router.lifespan_context(app):
        app.state.parts.lifecycle.begin()
        assert await _count(app, target, call=b'{"text": "hello"}') <= DOORS_COUNTED[target] * ALLOWED


_PREFIX = "io.modelcontextprotocol"
_MODERN = {f"{_PREFIX}/protocolVersion": "2026-07-28", f"{_PREFIX}/clientCapabilities": {}}
_EARLIER = (("accept", "application/json, text/event-stream"), ("mcp-protocol-version", "2025-11-25"))
_SELF_CONTAINED = (
    ("accept", "application/json, text/event-stream"),
    ("mcp-protocol-version", "2026-07-28"),
    ("mcp-method", "tools/call"),
    ("mcp-name", "echo"),
)


@pytest.mark.parametrize(
    ("meta", "headers", "counted"),
    [
        pytest.param({"_meta": _MODERN}, _SELF_CONTAINED, 69, id="2026-07-28"),
        pytest.param({}, _EARLIER, 69, id="2025-11-25"),
        pytest.param({"_meta": {"progressToken": 1, **_MODERN}}, _SELF_CONTAINED, 124, id="that tells of progress"),
    ],
)
async def test_a_call_over_mcp_costs_no_more_than_it_did(
    meta: dict[str, Any], headers: tuple[tuple[str, str], ...], counted: int
) -> None:
    """In both revisions; one that may tell of its progress has a task of its own."""
    app = create_app(Settings(store="memory://", history="off"), Registry([echo]))
    params = {"name": "echo", "arguments": {"text": "hello"}, **meta}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).encode()

    assert await _count(app, "POST /mcp", *headers, call=message) <= counted * ALLOWED


_EVENTS = ("accept", "text/event-stream")


async def test_a_call_as_events_is_answered_in_front_of_the_framework() -> None:
    """In one task of its own, and one piece; a third of the functions are the event loop's."""
    app = create_app(Settings(store="memory://", history="off"), Registry([echo]))

    assert await _count(app, "POST /tool_calls", _EVENTS) <= 150 * ALLOWED


async def test_an_event_of_progress_costs_little_more_than_its_text() -> None:
    """The loop is woken, and the network written to, once for many."""
    app = create_app(Settings(store="memory://", history="off"), Registry([report_often]))
    few, many = [await _count(app, "POST /tool_calls", _EVENTS, call=_CALL_OFTEN % times) for times in (100, 200)]

    assert (many - few) / 100 <= 16 * ALLOWED


@pytest.mark.parametrize(
    ("args", "counted"),
    [
        pytest.param(b'{"text": 1}', 73, id="a value of another type"),
        pytest.param(b"{}", 73, id="an argument missing"),
        pytest.param(b'{"text": 1.5}', 139, id="a value that may be mended"),
    ],
)
async def test_a_wrong_call_costs_about_twice_what_a_right_one_does_at_most(args: bytes, counted: int) -> None:
    """What is wrong is found in the errors of the validator, and said once; most faults are said from memory."""
    app = create_app(Settings(store="memory://", history="off"), Registry([echo]))
    call = b'{"name": "echo", "args": %b, "id": "call_1"}' % args

    assert await _count(app, "POST /tool_calls", call=call) <= counted * ALLOWED


async def test_a_call_without_an_id_costs_what_one_with_it_does() -> None:
    """One is made for it."""
    app = create_app(Settings(), Registry([echo]))
    call = b'{"name": "echo", "args": {"text": "hello"}}'

    assert await _count(app, "POST /tool_calls", call=call) <= COUNTED["POST /tool_calls"] * ALLOWED


async def test_who_shows_a_key_takes_the_short_way_too(tmp_path: Path) -> None:
    """A key is looked up among those that were seen lately, which takes a few functions."""
    keys = tmp_path / "keys.jsonl"
    shown = write_keys(keys, {"agent": ("tools:call",)})["agent"]["Authorization"]
    app = create_app(Settings(auth="api_key", keys_file=keys), Registry([echo]))

    assert await _count(app, "POST /tool_calls", ("authorization", shown)) <= 74 * ALLOWED


@pytest.mark.parametrize("target", COUNTED)
async def test_a_door_that_is_closed_is_noticed(target: str) -> None:
    """The framework's way is far beyond the tenth."""
    app = create_app(Settings(), Registry([echo]))
    app.add_middleware(Passing)

    assert await _count(app, target) > COUNTED[target] * 2


@pytest.mark.parametrize("has_keys", [False, True])
async def test_the_console_costs_a_call_nothing(tmp_path: Path, *, has_keys: bool) -> None:
    """Not one function more is entered, by those who show a key neither."""
    keys = tmp_path / "keys.jsonl"
    shown = write_keys(keys, {"agent": ("tools:call",)})["agent"]["Authorization"]
    settings: dict[str, Any] = {"auth": "api_key", "keys_file": keys} if has_keys else {}
    headers = [("authorization", shown)] if has_keys else []

    with_pages, without = [
        await _count(create_app(Settings(console=mode, **settings), Registry([echo])), "POST /tool_calls", *headers)
        for mode in ("on", "off")
    ]

    assert with_pages == without


async def test_toolkits_cost_a_plain_call_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """All of them are on, and what they need is there: not one function more is entered."""
    monkeypatch.setenv("SIDECALL_IMAGES_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SIDECALL_FILE_SEARCH_FOLDER", str(tmp_path))
    toolkits = [toolkit.name for toolkit in TOOLKITS if toolkit.name != "files-read-only"]  # Which `files` has, too.
    plain, full = (
        create_app(Settings(), Registry(tools)) for tools in ([echo], [echo, *discover(find_files(toolkits))])
    )

    assert await _count(full, "POST /tool_calls") == await _count(plain, "POST /tool_calls")
