"""Clients that others' generators make of the OpenAPI document type-check, and reach a server."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.environments import ROOT
from tests.e2e.conftest import Serve
from tests.kit.servers import Server

HERE = Path(__file__).parent
DOCUMENT = ROOT / "openapi/openapi.json"
TOOLS = '''
from sidecall import tool


@tool(requires_approval=True)
def delete_order(order: int) -> str:
    """Delete an order."""
    return f"Deleted order {order}."
'''


@pytest.fixture(scope="module")
def server(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Serve the tools that ship, and one that asks for an approval."""
    file = tmp_path_factory.mktemp("tools") / "orders.py"
    file.write_text(TOOLS)
    return start_server("--tools", "sidecall", "--tools", str(file), "--toolkit", "file_search")


def run(command: list[str], cwd: Path, **environment: str) -> str:
    """Run a program that has to succeed, and return what it prints."""
    settings = {**os.environ, **environment}
    done = subprocess.run(command, cwd=cwd, env=settings, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def read_lines(printed: str) -> list[Any]:
    """Read lines of JSON."""
    return [json.loads(line) for line in printed.splitlines()]


def test_a_client_in_typescript_compiles_and_gets_answers(for_typescript: Path, tmp_path: Path, server: Server) -> None:
    """Made by openapi-typescript, compiled with every strictness, run with openapi-fetch."""
    for name in ("package.json", "tsconfig.json", "use.ts"):
        shutil.copy(HERE / name, tmp_path)
    (tmp_path / "node_modules").symlink_to(for_typescript / "node_modules")
    programs = tmp_path / "node_modules/.bin"

    run([str(programs / "openapi-typescript"), str(DOCUMENT), "--output", "api.d.ts"], tmp_path)
    run([str(programs / "tsc")], tmp_path)
    printed = run(["node", "built/use.js"], tmp_path, SIDECALL_URL=server.url)

    assert read_lines(printed) == [
        ["tool", "success", "calculator", "42"],
        ["tool", "success", "calculator", "42"],
        ["tool", "2", "42"],
        ["function_call_output", "3", "42"],
        ["tool_result", "4", "42", False],
        ["gemini", "5", {"output": "42"}],
        ["tool", "success", "calculator", "42"],
        ["dry run", True, True],
        ["batch", 3],
        ["batch with state", ["tool_result", "tool_result"]],
        ["urn:sidecall:problem:invalid-parameter", 422],
        ["pending", {"order": 7}, None],
        ["waiting", 1],
        ["approved", ["tool", "6", "Deleted order 8."]],
        ["anonymous", "tool"],
        [["calculator"]],
        [True, None],
        [404],
        ["ready"],
    ]


def test_a_client_in_python_type_checks_and_gets_answers(for_python: Path, tmp_path: Path, server: Server) -> None:
    """Made by openapi-python-client, checked by mypy with every strictness but that on needless casts."""
    shutil.copy(HERE / "use.py", tmp_path)
    generate = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--path", str(DOCUMENT)]
    check = [sys.executable, "-m", "mypy", "--strict", "--no-warn-redundant-casts", "--cache-dir", os.devnull]

    run([*generate, "--output-path", "sidecall_client"], tmp_path, PYTHONPATH=str(for_python))
    run([*check, "--config-file=", "use.py", "sidecall_client"], tmp_path)
    printed = run([sys.executable, "use.py"], tmp_path, SIDECALL_URL=server.url)

    assert read_lines(printed) == [
        ["tool", "success", "calculator", "42"],
        ["tool", "2", "42"],
        ["function_call_output", "3", "42"],
        ["tool_result", "4", "42", False],
        ["gemini", "5", {"output": "42"}],
        ["dry run", True, True],
        ["batch", "ToolMessage", "AnthropicToolResult", "ToolMessage", "AnthropicToolResult"],
        ["urn:sidecall:problem:invalid-parameter", 422],
        ["pending", "delete_order", None],
        ["waiting", 1],
        ["rejected", "error", "Not that one."],
        ["rejected", "error", "Not that one."],
        [["calculator"]],
        [True],
        ["completed", ["herons.txt", "Herons fish in shallow water."]],
        [1],
    ]


def test_a_client_of_the_tools_themselves_gets_plain_results(
    for_python: Path, tmp_path: Path, server: Server, wide: Server
) -> None:
    """Made by openapi-python-client of what `/openapi/tools.json` answers: each tool is a function, wide ones too."""
    shutil.copy(HERE / "use_operations.py", tmp_path)
    (tmp_path / "config.json").write_text('{"post_hooks": []}')  # Nothing has to be made pretty.
    generate = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"]
    generate += ["--config", "config.json"]
    for name, served in (("tools_client", server), ("wide_client", wide)):
        url = f"{served.url}/openapi/tools.json"
        run([*generate, "--url", url, "--output-path", name], tmp_path, PYTHONPATH=str(for_python))

    printed = run([sys.executable, "use_operations.py"], tmp_path, SIDECALL_URL=server.url, WIDE_URL=wide.url)

    assert read_lines(printed) == [
        ["calculator", 200, 42],
        ["wrong", 422, "urn:sidecall:problem:invalid-arguments", "expression"],
        ["waiting", 202, "pending"],
        ["wide", True],
    ]
