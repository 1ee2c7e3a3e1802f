"""A server loads what it needs, and the rest when something of it is asked for."""

import json
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from bench.environments import ROOT
from bench.servers import plain_environment
from sidecall.later import Later
from tests.kit.servers import PATIENCE, end

# What takes milliseconds to load, and no call of a plain server needs.
LATER = (
    *("structlog", "jsonpath", "regex", "jsonschema_rs", "opentelemetry.sdk", "yaml", "cryptography", "joserfc"),
    *("asyncpg", "mcp", "openai", "agents", "langchain_core", "langgraph", "pydantic_ai", "html_to_markdown"),
    *("sidecall.rest.json_paths", "sidecall.telemetry.terminal_lines", "sidecall.telemetry.spans", "sidecall.client"),
    *("sidecall.cli.call", "sidecall.cli.calls", "sidecall.cli.keys", "sidecall.cli.mcp", "sidecall.cli.agents"),
    *(
        "sidecall.upstream.sdk",
        "sidecall.ledger.sql.postgres",
        "griffe",
        "rich",
        "pygments",
        "tenacity",
        "prometheus_client",
        "httpx",
        "httpcore",
    ),
    *(
        "sidecall.authoring.foreign.agents",
        "sidecall.authoring.foreign.langchain",
        "sidecall.authoring.openapi.toolkit",
    ),
)
TOOLS = f'''
import sys

from sidecall import tool


@tool
async def loaded() -> list[str]:
    """Name what is loaded of what should not be."""
    return [name for name in {LATER!r} if name in sys.modules]
'''


def test_a_plain_server_loads_nothing_that_its_first_call_does_not_need(tmp_path: Path) -> None:
    """Whoever makes it load more makes every start slower, and every process larger."""
    (tmp_path / "mine.py").write_text(TOOLS)
    command = [sys.executable, "-m", "sidecall", "serve", "--tools", str(tmp_path / "mine.py"), "--port", "0"]
    environment = {**plain_environment(), "SIDECALL_LOG_FORMAT": "json", "SIDECALL_DRAIN_GRACE": "0"}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE)
    try:
        assert process.stderr is not None
        running = next(line for line in map(json.loads, process.stderr) if "running on" in line["event"])
        url = running["event"].split("running on ")[1].split()[0]
        call = {"name": "loaded", "args": {}}
        answer = httpx.post(f"{url}/tool_calls", json=call, timeout=PATIENCE, trust_env=False)

        assert answer.json()["content"] == []
    finally:
        end(process)
        assert process.stderr is not None
        process.stderr.close()


def test_a_module_is_loaded_when_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not when it is named."""
    (tmp_path / "loaded_later.py").write_text("told = 3\n")
    monkeypatch.syspath_prepend(tmp_path)

    later = Later("loaded_later")
    before = "loaded_later" in sys.modules

    assert (before, later.told, "loaded_later" in sys.modules) == (False, 3, True)
    del sys.modules["loaded_later"]


def test_what_a_module_does_not_have_is_missed_as_ever() -> None:
    """And so is a module that there is not."""
    with pytest.raises(AttributeError, match="module 'json' has no attribute 'nothing'"):
        _ = Later("json").nothing
    with pytest.raises(ModuleNotFoundError):
        _ = Later("there_is_no_such_module").nothing
