"""A server loads what it needs, and the rest when something of it is asked for."""

import json
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import httpx
import pytest

from bench.environments import ROOT
from bench.servers import plain_environment
from sidecall.lazy_imports import Later, Provided, find_provider, later, load_function
from tests.kit.servers import end
from tests.kit.sources import MODULES, PACKAGE, imports_of, name_of, outline
from tests.kit.waiting import PATIENCE

LATE = re.compile(r'[Ll]ater\(\s*"(?P<name>[\w.]+)(?::(?P<function>\w+))?"\s*\)')
ASKED = re.compile(r'(?:Provided|find_provider)\(["\'](?P<purpose>\w+)["\']')

PLACE = re.compile(r"sidecall(?:\.\w+)+:\w+")

# What takes milliseconds to load, and no call of a plain server needs.
LATER = tuple(
    "jsonpath regex jsonschema_rs opentelemetry.sdk yaml cryptography joserfc asyncpg mcp openai agents"
    " langchain_core langgraph pydantic_ai html_to_markdown griffe rich pygments tenacity prometheus_client nats httpx"
    " httpcore jinja2 markupsafe markdown_it rcssmin rjsmin Stemmer pydantic.v1".split()
)
# Whole rooms, by the beginning of the names of their modules: a plain call needs nothing that stands there.
ROOMS = tuple(
    f"sidecall.{name}"
    for name in (
        "client native cli.call cli.workers compat.cli compat.foreign.agents compat.foreign.provider_tools"
        " compat.foreign.langchain features.access.cli features.access.routes features.access.tokens"
        " features.approvals.routes features.approvals.rule_routes features.audit.routes"
        " features.calls.cli features.calls.routes features.console.api_client features.console.charts"
        " features.console.markdown features.console.pages features.console.render"
        " features.console.routes features.console.scripts features.console.visits"
        " features.contents.json_paths features.contents.routes"
        " features.credentials.oauth.authorization_flow features.credentials.oauth.token_store"
        " features.credentials.encryption features.credentials.secret_routes"
        " features.credentials.sign_in_ features.credentials.token_routes features.file_tools"
        " features.fleet.bus features.fleet.executor features.fleet.join features.fleet.worker"
        " features.history.history features.history.packing features.history.replay_ features.mcp_client.sdk"
        " features.mcp_client.upstream features.mcp_server.cli"
        " features.openapi_export.cli features.openapi_export.document features.openapi_export.routes"
        " features.openapi_import.documents features.remote_agents.agent features.remote_agents.cli"
        " features.sandbox.shell_process features.sandbox.executor features.sandbox.detection"
        " features.sandbox.python_ features.search.routes features.status.collect features.status.routes"
        " features.telemetry.routes features.telemetry.spans features.telemetry.terminal_lines"
        " features.vector_stores.file_routes features.vector_stores.request_models"
        " features.vector_stores.filters features.vector_stores.folder features.vector_stores.index"
        " features.vector_stores.records features.vector_stores.routes features.vector_stores.stores"
        " features.webhooks.sender features.workspaces.file_requests features.workspaces.uploads"
        " features.workspaces.routes rest.dialect_readers rest.routes rest.tool_selection"
        " rest.dialect_models outgoing.clients server.supervisor"
        " storage.postgres.database"
    ).split()
)
TOOLS = f'''
import sys

from sidecall import tool


@tool
async def loaded() -> list[str]:
    """Name what is loaded of what should not be."""
    return [name for name in {LATER!r} if name in sys.modules] + sorted(
        name for name in [*sys.modules] if name.startswith({ROOMS!r})
    )
'''


def test_a_plain_server_loads_nothing_that_its_first_call_does_not_need(tmp_path: Path) -> None:
    """More would make every start slower, and every process larger."""
    (tmp_path / "mine.py").write_text(TOOLS)
    command = [sys.executable, "-m", "sidecall", "serve", "--tools", str(tmp_path / "mine.py"), "--port", "0"]
    kept_nowhere = {"SIDECALL_STORE": "memory://", "SIDECALL_HISTORY": "off"}
    quick = {"SIDECALL_LOG_FORMAT": "json", "SIDECALL_DRAIN_GRACE": "0"}
    environment = {**plain_environment(), **kept_nowhere, **quick}
    environment.pop("COVERAGE_PROCESS_CONFIG", None)  # What measures it would load much by itself.
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        running = next(line for line in map(json.loads, process.stderr) if "running on" in line["event"])
        url = running["event"].split("running on ")[1].split()[0]
        call = {"name": "loaded", "args": {}, "id": "call_1", "type": "tool_call"}
        answer = httpx.post(f"{url}/tool_calls", json=call, timeout=PATIENCE, trust_env=False)

        assert answer.json()["content"] == "[]"
    finally:
        end(process)
        assert process.stderr is not None
        process.stderr.close()


def test_every_room_that_must_not_be_loaded_is_there() -> None:
    """Or else nobody would notice that one of them has another name by now."""
    ours = [room for room in (*LATER, *ROOMS) if room.startswith("sidecall.")]

    assert [room for room in ours if not any(module.startswith(room) for module in MODULES)] == []


@pytest.mark.parametrize("path", [path for path in PACKAGE if {"Later", "later"} & outline(path).names], ids=name_of)
def test_what_is_named_for_later_can_be_loaded(path: Path) -> None:
    """So that no mistake in it waits for production."""
    named = list(LATE.finditer(path.read_text()))
    functions = [(match["name"], match["function"]) for match in named if match["function"] is not None]

    assert [import_module(match["name"]).__name__ for match in named] == [match["name"] for match in named]
    assert [name for name in functions if not callable(getattr(import_module(name[0]), name[1], None))] == []
    assert {match["name"] for match in named if match["name"].startswith("sidecall.")} <= imports_of(path)


def test_what_is_named_by_its_place_can_be_loaded() -> None:
    """Routes, commands and parts of features, and what executors are made by."""
    places = {text for path in PACKAGE for text in outline(path).strings if PLACE.fullmatch(text)}

    assert len(places) > 100
    assert [place for place in sorted(places) if not _is_there(place)] == []


def _is_there(place: str) -> bool:
    try:
        return load_function(place) is not None
    except (ImportError, AttributeError):
        return False


def test_what_a_layer_above_provides_is_there() -> None:
    """Each purpose that a module asks for is served by another one, and each that is served is asked for."""
    asked = {match["purpose"] for path in PACKAGE for match in ASKED.finditer(path.read_text())}

    assert {purpose: find_provider(purpose) in MODULES for purpose in asked} == {
        "foreign": True,
        "forms": True,
        "langchain": True,
        "collect": True,
        "listing": True,
        "pydantic_1": True,
        "repair": True,
        "server": True,
        "settings": True,
        "stages": True,
    }


@pytest.mark.parametrize("otherwise", [None, SimpleNamespace(told=3)])
def test_what_nobody_provides_has_a_stand_in_or_is_missed(otherwise: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the kernel is alone."""
    monkeypatch.setitem(vars(sys.modules["sidecall"])["_PROVIDERS"], "gone", "sidecall.there_is_no_such_module")

    provided = Provided("gone", otherwise)
    if otherwise is None:
        with pytest.raises(ModuleNotFoundError):
            _ = provided.told
    else:
        assert provided.told == 3


def test_a_module_is_loaded_when_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not when it is named."""
    (tmp_path / "loaded_later.py").write_text("told = 3\n")
    monkeypatch.syspath_prepend(tmp_path)

    later = Later("loaded_later")
    before = "loaded_later" in sys.modules

    assert (before, later.told, "loaded_later" in sys.modules) == (False, 3, True)
    del sys.modules["loaded_later"]


def test_a_function_is_loaded_when_it_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what it is given, and each time as its module has it then."""
    (tmp_path / "called_later.py").write_text("def add(one, other=0):\n    return one + other\n")
    monkeypatch.syspath_prepend(tmp_path)

    add = later("called_later:add")
    before = "called_later" in sys.modules

    assert (before, add(3), add(3, other=4)) == (False, 3, 7)
    del sys.modules["called_later"]


def test_what_a_module_does_not_have_is_missed_as_ever() -> None:
    """And so is a module that there is not."""
    with pytest.raises(AttributeError, match="module 'json' has no attribute 'nothing'"):
        _ = Later("json").nothing
    with pytest.raises(ModuleNotFoundError):
        _ = Later("there_is_no_such_module").nothing
