"""A server whose file is changed under it says so, and ends to be started again on what is there now."""

import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.e2e.conftest import Serve
from tests.kit.processes import has_ended, list_descendants
from tests.kit.servers import CLIENT, Server
from tests.kit.waiting import PATIENCE

TOOLS = '''
from sidecall import tool


@tool
def add(number: int) -> str:
    """Add one."""
    return str(number + 1)
'''
START_AGAIN = 75
DELETED = "it was deleted or replaced."
LOG_DELETED = "the -wal or -shm beside it was deleted or replaced."


@pytest.fixture
def serve(start_server: Serve, tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Give a function that starts a server on the same file each time."""
    (tmp_path / "mine.py").write_text(TOOLS)
    patient: list[Server] = []

    def start(*arguments: str, grace: str = "0") -> Server:
        settings = {"SIDECALL_STORE": "sqlite:///ledger.db", "SIDECALL_DRAIN_GRACE": grace}
        server = start_server("--tools", "mine.py", *arguments, cwd=tmp_path, **settings)
        if grace != "0":
            patient.append(server)
        return server

    yield start
    for server in patient:
        server.process.send_signal(signal.SIGKILL)


def call(server: Server, key: str | None = None) -> httpx.Response:
    """Send a call, one that is remembered where it has a key."""
    body = {"type": "tool_call", "name": "add", "args": {"number": 1}, "id": "1"}
    headers = {} if key is None else {"Idempotency-Key": key}
    return CLIENT.post(f"{server.url}/tool_calls", json=body, headers=headers)


def accept(server: Server, count: int = 20) -> list[str]:
    """Have calls remembered, and return where they are found."""
    return [f"/tool_calls/{call(server, f'key {number}').json()['id']}" for number in range(count)]


def read_readiness(server: Server) -> httpx.Response:
    """Ask whether it may take traffic."""
    return CLIENT.get(f"{server.url}/readyz")


def wait_until(holds: Callable[[], bool]) -> None:
    """Wait until this holds."""
    stop = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < stop
        time.sleep(0.02)


def wait_until_it_ends(server: Server) -> str:
    """Return what it says of itself once it has to be started again."""
    wait_until(lambda: "has to be started again" in read_readiness(server).json().get("detail", ""))
    return str(read_readiness(server).json()["detail"])


def test_it_says_what_has_happened_and_refuses_what_needs_the_file(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    """Though nobody asks for it; other calls are answered until it ends."""
    server, path = serve(grace="600"), tmp_path / "ledger.db"
    found = accept(server, 3)
    path.unlink()

    detail = wait_until_it_ends(server)
    refused = call(server, "another")
    known = CLIENT.get(f"{server.url}{found[0]}")
    plain = call(server)
    usable = server.metrics()["sidecall_store_usable"]
    log = server.wait_for("the server ends with exit code 75")

    assert detail == f"The server has to be started again. {path}: {DELETED}"
    assert (refused.status_code, refused.json()["type"]) == (503, "urn:sidecall:problem:store-unavailable")
    assert (known.status_code, plain.json()["content"], usable) == (503, "2", 0.0)
    assert f"the ledger cannot be written, so calls that have to be remembered get 503: {path}: {DELETED}" in log
    assert f"the server ends with exit code 75, to be started again: {path}: {DELETED}" in log


@pytest.mark.parametrize("workers", [1, 2])
def test_it_ends_with_a_code_of_its_own_and_starts_on_what_is_there(
    serve: Callable[..., Server], tmp_path: Path, workers: int
) -> None:
    """A backup, say; nothing is written to that by the server that has opened another file."""
    path, backup = tmp_path / "ledger.db", tmp_path / "backup.db"
    arguments = ("--workers", "2") if workers > 1 else ()
    server = serve(*arguments)
    before = accept(server, 3)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("VACUUM INTO ?", (str(backup),))
    since = call(server, "since").json()["id"]
    content = backup.read_bytes()
    processes = list_descendants(server.process.pid)
    backup.replace(path)

    code = server.process.wait(PATIENCE)
    ended = [has_ended(process) for process in processes]
    left = path.read_bytes()
    for end in ("-wal", "-shm"):  # As docs/durability.md has it.
        Path(f"{path}{end}").unlink(missing_ok=True)
    again = serve(*arguments)
    statuses = [CLIENT.get(f"{again.url}{place}").status_code for place in (*before, f"/tool_calls/{since}")]

    assert (code, set(ended)) == (START_AGAIN, {True})
    assert left == content
    assert statuses == [200, 200, 200, 404]


def test_what_was_answered_outlives_a_log_that_is_deleted(serve: Callable[..., Server], tmp_path: Path) -> None:
    """It is brought into the file before the workers end, who read it meanwhile."""
    path = tmp_path / "ledger.db"
    server = serve("--workers", "2")
    accepted = accept(server, 10)
    for end in ("-wal", "-shm"):
        Path(f"{path}{end}").unlink()
    code = server.process.wait(PATIENCE)
    with closing(sqlite3.connect(path)) as connection:
        checked = connection.execute("PRAGMA integrity_check").fetchall()
        found = {f"/tool_calls/{one}" for (one,) in connection.execute("SELECT id FROM calls")}

    assert (code, checked) == (START_AGAIN, [("ok",)])
    assert set(accepted) <= found
    server.wait_for(LOG_DELETED)


def test_a_server_ends_whose_history_is_changed(serve: Callable[..., Server], tmp_path: Path) -> None:
    """As one does whose ledger is; until then calls are remembered."""
    server, path = serve(grace="600"), tmp_path / "ledger.history.db"
    path.unlink()

    assert wait_until_it_ends(server) == f"The server has to be started again. {path}: {DELETED}"
    assert call(server, "still").status_code == 200
