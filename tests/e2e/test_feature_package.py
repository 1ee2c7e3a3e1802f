"""The feature of `examples/feature`, installed beside a server that knows nothing of it."""

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from bench.environments import ROOT
from bench.servers import plain_environment
from tests.kit.postgres import cluster, emptied_url, postgres_url
from tests.kit.servers import Server, end, launch_with, start
from tests.kit.waiting import PATIENCE

__all__ = ["cluster", "emptied_url", "postgres_url"]

PACKAGE = ROOT / "examples" / "feature"
TOOLS = '''
from sidecall import tool


@tool
async def add(a: int, b: int) -> str:
    """Add two numbers."""
    return str(a + b)
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the package as pip does: its entry points stand in a folder on the path."""
    folder = tmp_path_factory.mktemp("installed")
    project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]
    info = folder / "sidecall_notes-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in points.items())
        for group, points in project["entry-points"].items()
    ]
    (info / "entry_points.txt").write_text("".join(groups))
    (folder / "mine.py").write_text(TOOLS)
    return folder


@pytest.fixture(scope="module")
def environment(folder: Path) -> dict[str, str]:
    """Name the package, and set its settings."""
    path = f"{folder}:{PACKAGE}"
    return {"PYTHONPATH": path, "SIDECALL_NOTES_TEXT": "Be brief.", "SIDECALL_NOTES_FILE": str(folder / "counts")}


@pytest.fixture(scope="module")
def server(folder: Path, environment: dict[str, str]) -> Iterator[Server]:
    """Start a server beside it, in a process that has loaded nothing before."""
    tools, launch = str(folder / "mine.py"), launch_with(sys.executable)
    server = start(folder, "--tools", tools, environment=environment, cwd=folder, launch=launch)
    yield server
    end(server.process)


def test_all_that_it_adds_is_there(server: Server, folder: Path, environment: dict[str, str]) -> None:
    """A step of calls, a route, settings, rows of the status, a command, and what it does at the end."""
    call = {"name": "add", "args": {"a": 1, "b": 2}, "id": "call_1", "type": "tool_call"}
    with httpx.Client(base_url=server.url, timeout=PATIENCE, trust_env=False) as client:
        answers = [client.post("/tool_calls", json=call).json()["content"] for _ in range(2)]
        counts = client.get("/notes").json()
        status = client.get("/status").json()["features"]
        operations = client.get("/openapi.json").json()["paths"]["/notes"]["get"]["operationId"]
    command = [sys.executable, "-m", "sidecall", "notes", "--url", server.url]
    printed = subprocess.run(
        command, capture_output=True, text=True, check=True, cwd=folder, env={**plain_environment(), **environment}
    )

    assert answers == ["3\n\nBe brief."] * 2
    assert counts == {"add": 2}
    assert status == {"notes": {"calls": 2, "tools": 1}}
    assert operations == "list_counts"
    assert printed.stdout == "     2  add\n"
    assert "is not a setting" not in server.log
    assert server.stop() == 0
    assert (folder / "counts").read_text() == "add 2\n"


@pytest.mark.parametrize(("kind", "options"), [("sqlite", ["--workers", "2"]), ("postgres", [])])
def test_its_table_is_kept(
    folder: Path, environment: dict[str, str], kind: str, options: list[str], request: pytest.FixtureRequest
) -> None:
    """Made with the server's own; what is in it is there after a restart, for each worker."""
    url = request.getfixturevalue("emptied_url") if kind == "postgres" else f"sqlite:///{folder}/ledger.db"
    tools, launch = str(folder / "mine.py"), launch_with(sys.executable)
    call, counts = {"name": "add", "args": {"a": 1, "b": 2}, "id": "call_1", "type": "tool_call"}, []
    for _ in range(2):
        server = start(
            *(folder, "--tools", tools, *options),
            environment={**environment, "SIDECALL_STORE": url},
            cwd=folder,
            launch=launch,
        )
        try:
            with httpx.Client(base_url=server.url, timeout=PATIENCE, trust_env=False) as client:
                for _ in range(3):
                    client.post("/tool_calls", json=call).raise_for_status()
                counts.append(client.get("/notes").json())
            assert server.stop() == 0
        finally:
            end(server.process)

    assert counts == [{"add": 3}, {"add": 6}]


def test_its_route_takes_the_scope_that_it_names(folder: Path, environment: dict[str, str]) -> None:
    """As our own routes do."""
    keys = {"SIDECALL_AUTH": "api_key", "SIDECALL_KEYS_FILE": str(folder / "keys.jsonl")}
    new = [sys.executable, "-m", "sidecall", "keys", "new", "caller", "--scope", "tools:call"]
    key = subprocess.run(
        new, capture_output=True, text=True, check=True, cwd=folder, env={**plain_environment(), **environment, **keys}
    ).stdout.strip()
    tools, launch = str(folder / "mine.py"), launch_with(sys.executable)
    server = start(folder, "--tools", tools, environment={**environment, **keys}, cwd=folder, launch=launch)
    try:
        with httpx.Client(base_url=server.url, timeout=PATIENCE, trust_env=False) as client:
            nobody = client.get("/notes")
            caller = client.get("/notes", headers={"X-API-Key": key})
    finally:
        end(server.process)

    assert (nobody.status_code, caller.status_code) == (401, 403)
    assert "server:operate" in caller.text


def test_its_settings_are_listed_beside_the_servers(folder: Path, environment: dict[str, str]) -> None:
    """A name that is nearly one of them is pointed out, too."""
    command = [sys.executable, "-m", "sidecall", "settings", "--set"]
    misspelled = {"SIDECALL_NOTES_FLIE": "counts"}
    printed = subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env={**plain_environment(), **environment, **misspelled}
    )

    assert printed.returncode == 1
    assert "SIDECALL_NOTES_TEXT  environment, feature notes  Be brief." in printed.stdout
    assert "no server starts: There is no setting SIDECALL_NOTES_FLIE; write SIDECALL_NOTES_FILE." in printed.stdout
