"""Workers share what is remembered in files, on the settings that ship, no matter which is asked."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Serve
from tests.e2e.test_workers import workers
from tests.kit.processes import find_writers
from tests.kit.servers import CLIENT, Server
from tests.kit.waiting import PATIENCE

TOOLS = '''
import asyncio
import os
from pathlib import Path
from typing import Annotated

from sidecall import InjectedStore, Store, ToolAnnotations, ToolContext, tool


def note(mark: str) -> str:
    with open("effects", "a") as file:
        file.write(f"{mark}\\n")
    return f"{mark} in {os.getpid()}"


@tool(idempotency="tool_call_id")
async def once(mark: str) -> str:
    """Do once."""
    return note(mark)


@tool
async def add(mark: str) -> str:
    """Do."""
    return note(mark)


@tool(requires_approval=True)
async def pay(mark: str) -> str:
    """Do with approval."""
    return note(mark)


@tool(annotations=ToolAnnotations(idempotent=True))
async def wait(mark: str) -> str:
    """Do once the file `go` is there."""
    note(mark)
    while not Path("go").exists():
        await asyncio.sleep(0.05)
    return "went"


@tool
async def tell(mark: str, context: ToolContext) -> str:
    """Say three things, and end once the file `told` is there."""
    for number in range(1, 4):
        context.report_progress(number, 3)
    note(mark)
    while not Path("told").exists():
        await asyncio.sleep(0.05)
    return "told"


@tool
async def keep(key: str, store: Annotated[Store, InjectedStore]) -> int:
    """Keep something, and count what is kept."""
    await store.aput(("kept",), key, {"of": os.getpid()})
    return len(await store.asearch(("kept",), limit=100))


@tool
async def write(length: int) -> str:
    """Write a long text."""
    return "x" * length
'''


AGAIN = "the ledger can be written again"


class Pair:
    """A server of two workers, of which one is asked at a time: the other is stopped meanwhile."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server = server
        self.folder = folder
        self.pids = workers(server)

    @contextmanager
    def only(self, which: int) -> Iterator[httpx.Client]:
        """Give a client whose connections come to this worker."""
        other = self.pids[1 - which]
        os.kill(other, signal.SIGSTOP)
        try:
            with httpx.Client(base_url=self.server.url, trust_env=False, timeout=PATIENCE) as client:
                yield client
        finally:
            os.kill(other, signal.SIGCONT)

    @property
    def effects(self) -> list[str]:
        """What tools have done."""
        file = self.folder / "effects"
        return file.read_text().split("\n")[:-1] if file.exists() else []


def call(client: httpx.Client, name: str, headers: dict[str, str] | None = None, **args: Any) -> httpx.Response:
    """Send a call under an id that is the same for the same call."""
    said = {"type": "tool_call", "name": name, "args": args, "id": f"{name} {args}"}
    return client.post("/tool_calls", json=said, headers=headers)


def serve_two(start_server: Serve, folder: Path, *arguments: str, **settings: str) -> Pair:
    """Start two workers with the settings that ship, but for these."""
    (folder / "mine.py").write_text(TOOLS)
    wanted = {"SIDECALL_STORE": "", **settings}
    return Pair(start_server("--tools", "mine.py", "--workers", "2", *arguments, cwd=folder, **wanted), folder)


@pytest.fixture
def serve_pair(start_server: Serve, tmp_path: Path) -> Callable[..., Pair]:
    """Give what starts two workers in a folder of the test's own."""
    return partial(serve_two, start_server, tmp_path)


@pytest.fixture(scope="module")
def pair(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """Two workers that no test kills."""
    return serve_two(start_server, tmp_path_factory.mktemp("pair"), "--toolkit", "file_search")


@pytest.mark.parametrize(
    ("store", "is_blocked"),
    [("", False), ("", True), ("sqlite:///named.db", False)],
    ids=["default", "no default", "named"],
)
def test_each_worker_knows_what_the_other_has_accepted(
    serve_pair: Callable[..., Pair], tmp_path: Path, store: str, is_blocked: bool
) -> None:
    """What is to be done once is done once, and nothing is unknown."""
    if is_blocked:
        (tmp_path / ".sidecall").write_text("no folder")
    pair = serve_pair(SIDECALL_STORE=store, SIDECALL_MAX_CONTENT_BYTES="1000")
    key = {"Idempotency-Key": "one"}
    with pair.only(0) as client:
        ready = client.get("/readyz").status_code
        first = [call(client, "once", mark="by its id"), call(client, "add", key, mark="by its key")]
        asked = call(client, "pay", mark="approved")
        job = call(client, "add", {"Prefer": "respond-async"}, mark="as a job")
        counted = [call(client, "keep", key="a").json()["content"]]
        cut = call(client, "write", length=5000).json()["response_metadata"]["artifact_url"]
    with pair.only(1) as client:
        second = [call(client, "once", mark="by its id"), call(client, "add", key, mark="by its key")]
        listed = [one["id"] for one in client.get("/approvals").json()]
        decided = client.post(asked.headers["Location"], json={"decision": "approve"})
        ended = client.get(job.headers["Location"], headers={"Prefer": "wait=20"})
        counted.append(call(client, "keep", key="b").json()["content"])
        whole = client.get(cut)
    with pair.only(0) as client:
        late = client.post(asked.headers["Location"], json={"decision": "approve"})
    code = pair.server.stop()

    assert (ready, code) == (200, 0)
    assert [answer.content for answer in first] == [answer.content for answer in second]
    assert second[1].headers["Idempotency-Replayed"] == "true"
    assert (len(listed), decided.status_code, late.status_code) == (1, 200, 409)
    assert (ended.status_code, ended.json()["status"]) == (200, "succeeded")
    assert counted == ["1", "2"]
    assert (whole.status_code, whole.text) == (200, "x" * 5000)
    assert sorted(pair.effects) == ["approved", "as a job", "by its id", "by its key"]


def test_what_one_ran_that_is_killed_is_carried_on_by_the_other(serve_pair: Callable[..., Pair]) -> None:
    """At once: it need not be silent for a while, for its process is gone."""
    pair = serve_pair()
    keyed = {"Prefer": "respond-async", "Idempotency-Key": "one"}
    with pair.only(0) as client:
        job = call(client, "wait", keyed, mark="begun")
        until(lambda: pair.effects == ["begun"])
    os.kill(pair.pids[0], signal.SIGKILL)
    until(lambda: pair.effects == ["begun"] * 2)
    (pair.folder / "go").touch()
    with httpx.Client(base_url=pair.server.url, trust_env=False, timeout=PATIENCE) as client:
        ended = client.get(job.headers["Location"], headers={"Prefer": "wait=30"}).json()
        again = call(client, "wait", keyed | {"Prefer": "wait=30"}, mark="begun").json()

    assert (ended["status"], ended["message"]["content"]) == ("succeeded", "went")
    assert again["content"] == "went"


def test_a_worker_cancels_what_another_runs(pair: Pair) -> None:
    """And each sees the end."""
    with pair.only(0) as client:
        job = call(client, "wait", {"Prefer": "respond-async"}, mark="cancelled")
        until(lambda: "cancelled" in pair.effects)
    with pair.only(1) as client:
        asked = client.post(f"{job.headers['Location']}/cancel")
    with httpx.Client(base_url=pair.server.url, trust_env=False, timeout=PATIENCE) as client:
        ended = client.get(job.headers["Location"], headers={"Prefer": "wait=30"}).json()

    assert asked.status_code in (200, 202)
    assert ended["status"] == "cancelled"


def test_what_a_tool_says_at_one_worker_is_read_at_the_other(pair: Pair) -> None:
    """While its call still runs; each thing once, also where the process that writes was replaced meanwhile."""
    with pair.only(0) as client:
        job = call(client, "tell", {"Prefer": "respond-async"}, mark="told")
        until(lambda: "told" in pair.effects)
        [killed] = find_writers(pair.server.process.pid)
        os.kill(killed, signal.SIGKILL)
    until(lambda: {ask_readiness(pair.server) for _ in range(20)} == {200})
    place = f"{job.headers['Location']}/events"
    with httpx.Client(base_url=pair.server.url, trust_env=False, timeout=2.0) as other:

        def has_all() -> bool:
            with pair.only(1):
                return read_said(other, place) == [1, 2, 3]

        until(has_all)  # It is written while the first worker is not stopped.
    (pair.folder / "told").touch()
    with httpx.Client(base_url=pair.server.url, trust_env=False, timeout=PATIENCE) as client:
        said = read_said(client, place)

    assert said == [1, 2, 3]


def read_said(client: httpx.Client, place: str) -> list[int]:
    """Watch a call until its tool has said the last or says no more."""
    said: list[int] = []
    with suppress(httpx.ReadTimeout), client.stream("GET", place) as answer:
        for line in answer.iter_lines():
            if line.startswith("data: ") and '"done":' in line:
                said.append(json.loads(line.removeprefix("data: "))["done"])
                if said[-1] == 3:
                    break
    return said


def test_plain_calls_are_in_one_history(pair: Pair) -> None:
    """Each worker lists what the others have answered, a moment later."""
    with pair.only(0) as client:
        plain = call(client, "add", mark="plain").json()["id"]

    def is_listed() -> bool:
        with pair.only(1) as client:
            return plain in [one["id"] for one in client.get("/tool_calls").json()]

    until(is_listed)  # It is written while the first worker is not stopped.
    with pair.only(1) as client:
        one = client.get(f"/tool_calls/{plain}").json()

    assert (one["name"], one["status"]) == ("add", "succeeded")


def test_all_go_on_when_the_process_that_writes_is_killed(pair: Pair) -> None:
    """Each says when it can write again, and then decides at once."""
    with pair.only(0) as client:
        accepted = call(client, "pay", mark="before")
    before = pair.server.log.count(AGAIN)
    [killed] = find_writers(pair.server.process.pid)
    os.kill(killed, signal.SIGKILL)
    found = {ask_readiness(pair.server) for _ in range(20)}
    # A worker is ready until it sees that the process is gone, which may take longer than those twenty.
    pair.server.wait_until(lambda log: log.count(AGAIN) == before + 2)
    with pair.only(1) as client:
        ready = client.get("/readyz").status_code
        decided = client.post(accepted.headers["Location"], json={"decision": "approve"})

    assert found <= {200, 503}
    assert (ready, decided.status_code, pair.effects.count("before")) == (200, 200, 1)


def test_files_that_are_searched_are_shared(pair: Pair) -> None:
    """What is sent to one worker is found by the other."""
    with pair.only(0) as client:
        made = client.post("/vector_stores", json={"name": "notes"}).json()
        sent = client.post("/files", files={"file": ("a.txt", b"tea and cake")}, data={"purpose": "assistants"}).json()
    with pair.only(1) as client:
        client.post(f"/vector_stores/{made['id']}/files", json={"file_id": sent["id"]}).raise_for_status()
    with pair.only(0) as client:
        found = client.post(f"/vector_stores/{made['id']}/search", json={"query": "cake"}).json()

    assert [one["filename"] for one in found["data"]] == ["a.txt"]


def test_the_file_is_free_once_the_workers_have_ended(serve_pair: Callable[..., Pair]) -> None:
    """One of them may have it alone then, and knows what they have accepted."""
    pair = serve_pair()
    with pair.only(1) as client:
        accepted = call(client, "pay", mark="later")
    assert pair.server.stop() == 0
    again = serve_pair()
    with again.only(0) as client:
        decided = client.post(accepted.headers["Location"], json={"decision": "approve"})

    assert (decided.status_code, pair.effects) == (200, ["later"])


def test_what_workers_keep_in_memory_goes_with_them(serve_pair: Callable[..., Pair], tmp_path: Path) -> None:
    """It is in a folder that only its owner may read."""
    made = tmp_path / "temporary"
    made.mkdir()
    pair = serve_pair(SIDECALL_STORE="memory://", TMPDIR=str(made))
    [folder] = made.iterdir()
    mode = folder.stat().st_mode & 0o777
    kept = sorted(file.name for file in folder.iterdir() if file.suffix == ".db")
    code = pair.server.stop()

    assert (mode, kept) == (0o700, ["ledger.db", "ledger.history.db"])
    assert (code, list(made.iterdir())) == (0, [])


def ask_readiness(server: Server) -> int:
    """Ask the worker that takes the connection whether it is ready."""
    return CLIENT.get(f"{server.url}/readyz").status_code


def until(is_so: Callable[[], bool]) -> None:
    """Wait until something is so."""
    limit = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < limit
        time.sleep(0.05)
