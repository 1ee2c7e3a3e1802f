"""Servers of one store hear of each other's calls, wherever these run."""

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.kit.fleets import Fleet, call, is_available, wait_for
from tests.kit.postgres import cluster, postgres_url
from tests.kit.servers import CLIENT, Server
from tests.kit.waiting import PATIENCE

__all__ = ["cluster", "postgres_url"]

_LATER = {"prefer": "respond-async"}


def _read(server: Server, job: str, wait: int = 5) -> dict[str, object]:
    answer = CLIENT.get(f"{server.url}/tool_calls/{job}", headers={"prefer": f"wait={wait}"})
    said: dict[str, object] = answer.json()
    return said


def test_calls_are_cancelled_and_followed_at_another_server(fleet: Fleet, postgres_url: str, tmp_path: Path) -> None:
    """At once, and the tool hears of it on its worker."""
    one, two = (fleet.serve(SIDECALL_STORE=postgres_url) for _ in range(2))
    fleet.work("cpu")
    wait_for(lambda: is_available(one, "waits"))
    file = tmp_path / "said"
    job = call(one, "waits", headers=_LATER, file=str(file)).json()["id"]
    wait_for(lambda: file.exists() and file.read_text() != "")
    began = time.monotonic()
    CLIENT.post(f"{two.url}/tool_calls/{job}/cancel").raise_for_status()
    wait_for(lambda: "ended" in file.read_text())
    assert time.monotonic() - began < PATIENCE
    assert _read(two, job)["status"] == "cancelled"
    done = call(one, "says", headers=_LATER, count=3).json()["id"]
    assert _read(two, done)["status"] == "succeeded"


@pytest.mark.parametrize("name", ["waits_safely"])
def test_a_remembered_call_goes_on_after_its_server_died(
    fleet: Fleet, postgres_url: str, tmp_path: Path, name: str
) -> None:
    """At another server, on another worker if need be."""
    one, two = (fleet.serve(SIDECALL_STORE=postgres_url) for _ in range(2))
    fleet.work("spare")
    wait_for(lambda: is_available(one, name) and is_available(two, name))
    file = tmp_path / "said"
    job = call(one, name, headers=_LATER, file=str(file)).json()["id"]
    wait_for(lambda: file.exists() and file.read_text() != "")
    one.process.send_signal(9)
    assert _read(two, job, wait=30)["status"] == "succeeded"
    assert len(file.read_text().splitlines()) == 2


def test_a_call_that_two_servers_are_asked_for_begins_once(fleet: Fleet, postgres_url: str, tmp_path: Path) -> None:
    """With one idempotency key; all who asked get its answer."""
    servers = [fleet.serve(SIDECALL_STORE=postgres_url) for _ in range(2)]
    fleet.work("slow", "--slots", "8")
    for server in servers:
        wait_for(lambda server=server: is_available(server, "notes"))  # type: ignore[misc]
    file, key = tmp_path / "said", {"idempotency-key": "the same"}
    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(call, servers[number % 2], "notes", headers=key, file=str(file)) for number in range(8)]
    assert [it.result().json()["content"] for it in asked] == ["noted"] * 8
    assert len(file.read_text().splitlines()) == 1
