"""What has to be remembered outlives the server, and a store that is out of use takes nothing else with it."""

import os
import signal
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Serve
from tests.kit.processes import bounding, find_writers, has_ended
from tests.kit.servers import CLIENT, Server
from tests.kit.waiting import PATIENCE
from tests.storage.sql.disks import freezing

TOOLS = '''
import time
from pathlib import Path

from sidecall import tool


@tool(requires_approval=True)
def pay(amount: int) -> str:
    """Pay.

    Args:
        amount: How much.
    """
    with Path("paid").open("a") as paid:
        paid.write(f"{amount}\\n")
    if amount > 100:
        time.sleep(60)
    return f"paid {amount}"


@tool
def add(number: int) -> str:
    """Add.

    Args:
        number: What.
    """
    return str(number + 1)
'''


@pytest.fixture
def serve(start_server: Serve, tmp_path: Path) -> Callable[..., Server]:
    """Give a function that starts a server on the same file each time."""
    (tmp_path / "payments.py").write_text(TOOLS)

    def start(**settings: str) -> Server:
        return start_server("--tools", "payments.py", cwd=tmp_path, SIDECALL_STORE="sqlite:///ledger.db", **settings)

    return start


def call(server: Server, name: str, **args: Any) -> httpx.Response:
    """Send a call whose id says what it is."""
    body = {"type": "tool_call", "name": name, "args": args, "id": f"{name} {args}"}
    return CLIENT.post(f"{server.url}/tool_calls", json=body)


def approve(server: Server, approval: Any, **words: Any) -> httpx.Response:
    """Let a call run."""
    url = f"{server.url}/approvals/{approval['id']}"
    return CLIENT.post(url, json={"decision": "approve"} | words)


def kill(server: Server) -> None:
    """End a server without a word."""
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()


def wait(holds: Callable[[], bool]) -> None:
    """Wait until this holds."""
    stop = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < stop
        time.sleep(0.02)


def approve_and_kill(server: Server, approval: Any, paid: Path, **words: Any) -> None:
    """Let a call run, and end its server without a word while it does."""
    with ThreadPoolExecutor(1) as thread:
        sent = thread.submit(approve, server, approval, **words)
        wait(lambda: paid.exists() and paid.read_text() != "")
        kill(server)
        with pytest.raises(httpx.HTTPError):
            sent.result()


def test_a_call_waits_for_a_person_over_the_end_of_its_server(serve: Callable[[], Server], tmp_path: Path) -> None:
    """However it ended; the call runs once, and its agent gets the answer."""
    first = serve()
    asked = call(first, "pay", amount=7)
    kill(first)

    second = serve()
    again = call(second, "pay", amount=7)
    decided = approve(second, asked.json())
    assert second.stop() == 0
    third = serve()
    answer = call(third, "pay", amount=7)

    assert (asked.status_code, again.status_code, decided.status_code) == (202, 202, 200)
    assert again.json() == asked.json()
    assert answer.json()["content"] == "paid 7"
    assert (tmp_path / "paid").read_text() == "7\n"


def test_a_call_that_ran_when_its_server_was_killed_is_answered(serve: Callable[[], Server], tmp_path: Path) -> None:
    """Nobody knows whether it had an effect, and it does not run again."""
    first = serve()
    asked = call(first, "pay", amount=700).json()
    approve_and_kill(first, asked, tmp_path / "paid")

    second = serve()
    answer = call(second, "pay", amount=700)

    assert answer.status_code == 200
    assert answer.json()["response_metadata"]["error"]["kind"] == "outcome_unknown"
    second.wait_for("approved or rejected calls whose server ended before they were answered: 1")
    assert (tmp_path / "paid").read_text() == "700\n"


def test_the_history_has_an_approved_call_that_ran_when_its_server_was_killed(
    serve: Callable[[], Server], tmp_path: Path
) -> None:
    """Once, with what was asked, what ran, and who let it; also after its agent has asked for the answer."""
    first = serve()
    asked = call(first, "pay", amount=900).json()
    approve_and_kill(first, asked, tmp_path / "paid", args={"amount": 700}, reason="Less.")

    second = serve()
    answer = call(second, "pay", amount=900).json()
    url = f"{second.url}/tool_calls"
    wait(lambda: CLIENT.get(url).json() != [])

    entry = CLIENT.get(f"{url}/{answer['id']}").json()
    assert [one["id"] for one in CLIENT.get(url).json()] == [answer["id"]]
    assert {name: entry[name] for name in ("status", "args", "asked_args", "decided_by", "reason")} == {
        "status": "outcome_unknown",
        "args": {"amount": 700},
        "asked_args": {"amount": 900},
        "decided_by": "anonymous",
        "reason": "Less.",
    }
    assert CLIENT.get(f"{url}/summary").json()["total"]["calls"] == 1


def test_a_store_that_is_out_of_use_takes_nothing_else_with_it(serve: Callable[[], Server], tmp_path: Path) -> None:
    """Calls that have to be remembered are told when to come again, orchestrators why, and others notice nothing."""
    server = serve()
    other = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    refused = call(server, "pay", amount=1)
    readiness = CLIENT.get(f"{server.url}/readyz")
    plain = call(server, "add", number=1)
    usable = server.metrics()["sidecall_store_usable"]
    other.execute("ROLLBACK")
    other.close()
    wait(lambda: CLIENT.get(f"{server.url}/readyz").status_code == 200)
    later = call(server, "pay", amount=1)

    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert refused.json()["type"] == "urn:sidecall:problem:store-unavailable"
    assert (readiness.status_code, readiness.json()["phase"]) == (503, "ready")
    assert readiness.json()["detail"] == (
        f"Its store cannot be used. {tmp_path / 'ledger.db'}: another program has locked it (database is locked)."
    )
    assert (plain.json()["content"], usable) == ("2", 0.0)
    assert later.status_code == 202
    server.wait_for("the ledger can be written again")


def test_a_process_that_writes_and_hangs_takes_nothing_else_with_it(
    serve: Callable[[], Server], tmp_path: Path
) -> None:
    """Callers who wait for it are told after some seconds, and all others at once; another takes its place."""
    server = serve()
    [writer] = find_writers(server.pid)
    os.kill(writer, signal.SIGSTOP)

    with ThreadPoolExecutor() as threads:
        waiting = threads.submit(call, server, "pay", amount=1)
        plain = call(server, "add", number=1)
        refused = waiting.result()
    ended = has_ended(writer)
    wait(lambda: CLIENT.get(f"{server.url}/readyz").status_code == 200)
    later = call(server, "pay", amount=1)

    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
    assert refused.json()["type"] == "urn:sidecall:problem:store-unavailable"
    assert (plain.json()["content"], ended, later.status_code) == ("2", True, 202)
    assert (
        f"{tmp_path / 'ledger.db'}: what writes it does not answer; it was stopped, or the disk is stuck." in server.log
    )
    server.wait_for("the ledger can be written again")


def test_what_is_accepted_outlives_a_file_that_could_not_be_written(serve: Callable[[], Server]) -> None:
    """Also where calls are read meanwhile, which opens the file and closes it again."""
    server, accepted, refused = serve(), [], []

    def send(until: Callable[[], bool]) -> None:
        while not until():
            body = {"type": "tool_call", "name": "add", "args": {"number": 1}, "id": "1"}
            answer = client.post("/tool_calls", json=body, headers={"Prefer": "respond-async"})
            if answer.status_code == 202:
                accepted.append(answer.json()["id"])
                client.get(f"/tool_calls/{accepted[-1]}")
            else:
                refused.append(time.monotonic())
                time.sleep(0.05)

    with httpx.Client(base_url=server.url, timeout=PATIENCE) as client:
        send(lambda: len(accepted) == 20)
        [writer] = find_writers(server.pid)
        with bounding(writer, 1):
            # It is tried again twice a second.
            send(lambda: bool(refused) and refused[-1] > refused[0] + 1.5)
        send(lambda: len(accepted) == 300)
        found = [client.get(f"/tool_calls/{one}").status_code for one in accepted]

    assert found == [200] * 300


@pytest.mark.parametrize("history", ["off", "full"])
def test_files_that_become_immutable_do_not_end_the_server(
    serve: Callable[..., Server], tmp_path: Path, history: str
) -> None:
    """Nor does the memory beside them, which those who read share with who writes."""
    server = serve(SIDECALL_HISTORY=history)
    body = {"type": "tool_call", "name": "add", "args": {"number": 1}, "id": "1"}
    with httpx.Client(base_url=server.url, timeout=PATIENCE) as client:

        def send() -> tuple[int, int, int]:
            job = client.post("/tool_calls", json=body, headers={"Prefer": "respond-async"})
            plain = client.post("/tool_calls", json=body)
            return job.status_code, client.get("/tool_calls").status_code, plain.status_code

        before = {client.post("/tool_calls", json=body, headers={"Prefer": "respond-async"}) for _ in range(20)}
        with freezing(list(tmp_path.glob("ledger*"))):
            found = {send() for _ in range(20)}
            time.sleep(1)  # Within that the writing process is started again.
            found |= {send() for _ in range(20)}
        wait(lambda: client.get("/readyz").status_code == 200)
        later = send()
        kept = {client.get(one.headers["Location"]).status_code for one in before}

    assert (found, later, kept) == ({(503, 200, 200)}, (202, 200, 200), {200})
