"""What must not change while files move: it is recorded as text, and compared by `test_golden.py`.

`python -m tests.golden.recording` records it anew, where a change is meant.
"""

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
from typer.main import get_group
from typer.testing import CliRunner

from sidecall import BaseTool, Registry
from sidecall.cli.commands import cli
from sidecall.composition.features import load_features
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.gate import name_step
from sidecall.main import create_app
from sidecall.rest.route_table import Permissions
from sidecall.settings import Settings
from tests.golden import kinds

RECORDED = Path(__file__).with_name("recorded")
_COLUMNS = {"COLUMNS": "120", "TERM": "dumb", "NO_COLOR": "1"}


def write_stages() -> str:
    """Write the order of the steps of one tool of each kind, of success and of failure."""
    registry = Registry([tool for tool in vars(kinds).values() if isinstance(tool, BaseTool)])
    pipeline = create_app(Settings(store="memory://"), registry).state.parts.pipeline
    return "".join(_write_plan(tool, pipeline.plans.of(tool)) for tool in registry)


def _write_plan(tool: CompiledTool, plan: Any) -> str:
    ways = (("success", plan.success), ("failure", plan.failure))
    return "".join(f"{tool.name} {way}: {' '.join(map(name_step, steps))}\n" for way, steps in ways)


def write_routes() -> str:
    """Write each route with the scope that it takes and its operation_id."""
    document = create_app(Settings(store="memory://", toolkits=("file_search",)), Registry()).openapi()
    rows = [
        (path, method.upper(), operation["operationId"])
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if method in ("get", "post", "put", "delete", "patch")
    ]
    permissions = Permissions(route for it in load_features(use_entry_points=False) for route in it.routes)
    return "".join(
        f"{method} {path} {_find_scope(permissions, method, path)} {name}\n" for path, method, name in sorted(rows)
    )


def _find_scope(permissions: Permissions, method: str, path: str) -> str:
    try:
        return permissions.find_scope(method, re.sub(r"\{[^}]+\}", "x", path)) or "anybody"
    except LookupError:
        return "none"


def write_status() -> str:
    """Write which members `GET /status` of a fresh server has, and of which type."""
    return asyncio.run(_read_status())


async def _read_status() -> str:
    app = create_app(Settings(store="memory://"), Registry([kinds.plain]))
    reached = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=reached, base_url="http://server") as client,
    ):
        answer = await client.get("/status")
    return "".join(f"{line}\n" for line in sorted(set(_walk("", answer.json()))))


def _walk(place: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _walk(f"{place}.{name}", inner)
    elif isinstance(value, list):
        yield f"{place}: list"
        for inner in value:
            yield from _walk(f"{place}[]", inner)
    else:
        yield f"{place}: {type(value).__name__}"


def write_help() -> str:
    """Write what `--help` says of the program and of each command."""
    commands = get_group(cli).commands
    return _ask_help() + "".join(f"== {name}\n{_ask_help(name)}" for name in commands)


def _ask_help(*words: str) -> str:
    answer = CliRunner().invoke(cli, [*words, "--help"], env=_COLUMNS)
    return "".join(f"{line.rstrip()}\n" for line in answer.stdout.splitlines())


WRITERS: Mapping[str, Callable[[], str]] = {
    "stages": write_stages,
    "routes": write_routes,
    "status": write_status,
    "help": write_help,
}

if __name__ == "__main__":
    for name, write in WRITERS.items():
        (RECORDED / f"{name}.txt").write_text(write())
