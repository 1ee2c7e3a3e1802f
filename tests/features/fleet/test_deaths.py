"""Workers, servers and the bus end while calls run, and nothing is lost or run twice that must not be."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.kit.fleets import Fleet, call, is_available, wait_for
from tests.kit.servers import Server
from tests.kit.waiting import PATIENCE


@pytest.fixture(scope="module")
def server(fleet: Fleet) -> Server:
    """Start a server."""
    return fleet.serve()


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    """Give threads that call."""
    with ThreadPoolExecutor(8) as threads:
        yield threads


def _pids(file: Path) -> list[int]:
    return [int(line) for line in file.read_text().splitlines() if line.isdigit()] if file.exists() else []


@dataclass
class Day:
    """A bad day: what was asked, which processes were there, and where the tools say who runs them."""

    answers: dict[str, Future[httpx.Response]]
    files: dict[str, Path]
    frozen: list[Server]

    def pids(self, name: str) -> list[int]:
        """Return who has started a tool, in their order."""
        return _pids(self.files[name])

    def end(self, name: str) -> tuple[int, Any, str]:
        """Wait for an answer: return its status, kind and content."""
        said = self.answers[name].result(PATIENCE)
        body = said.json()
        error = body.get("response_metadata", {}).get("error") or {}
        return said.status_code, error.get("kind"), str(body.get("content"))


@pytest.fixture(scope="module")
def day(fleet: Fleet, server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    """Have workers die in four ways at once."""
    for _ in range(3):
        fleet.work("poison")
    fleet.work("spare", "--slots", "2")
    frozen = [fleet.work("frozen") for _ in range(2)]
    names = ("kills", "waits_safely", "waits_once", "freezes")
    wait_for(lambda: all(is_available(server, it) for it in names))
    files = {name: tmp_path_factory.mktemp("said") / name for name in names}
    with ThreadPoolExecutor(len(names)) as threads:
        answers = {name: threads.submit(call, server, name, file=str(files[name])) for name in names}
        made = Day(answers, files, frozen)
        wait_for(lambda: all(map(_pids, files.values())))
        os.kill(made.pids("freezes")[0], signal.SIGSTOP)
        os.kill(made.pids("waits_once")[0], signal.SIGKILL)
        fleet.work("spare", "--slots", "2")
        yield made


def test_a_call_that_may_run_twice_runs_again_elsewhere(day: Day) -> None:
    """And the client hears nothing of it."""
    assert day.end("waits_safely") == (200, None, "second")
    assert len(set(day.pids("waits_safely"))) == 2


def test_a_call_that_may_not_run_twice_ends_with_an_unknown_outcome(day: Day) -> None:
    """It was started once."""
    status, kind, text = day.end("waits_once")
    assert (status, kind) == (200, "outcome_unknown")
    assert "waits_once" in text
    assert len(day.pids("waits_once")) == 1


def test_a_call_that_ends_each_of_its_workers_is_started_three_times(day: Day) -> None:
    """And says so."""
    status, kind, text = day.end("kills")
    assert (status, kind) == (200, "poison")
    assert "3 times" in text
    assert len(set(day.pids("kills"))) == 3


def test_a_worker_that_was_frozen_is_not_believed_and_serves_again(day: Day, server: Server) -> None:
    """Another has answered meanwhile."""
    assert day.end("freezes") == (200, None, "start 2")
    first = day.pids("freezes")[0]
    assert server.metrics()["sidecall_fleet_lost_total"] == 6
    os.kill(first, signal.SIGCONT)
    wait_for(lambda: server.metrics()['sidecall_fleet_workers{queue="frozen"}'] == 2)
    os.kill(next(it.pid for it in day.frozen if it.pid != first), signal.SIGKILL)
    assert call(server, "freezes", file=str(day.files["freezes"])).json()["content"] == "start 3"
    assert day.pids("freezes")[2] == first


def test_the_bus_goes_away_and_comes_back(
    fleet: Fleet, server: Server, pool: ThreadPoolExecutor, tmp_path: Path
) -> None:
    """What runs is answered, what comes meanwhile is refused at once, and what comes after runs."""
    fleet.work("cpu", "--slots", "2")
    wait_for(lambda: is_available(server, "echo"))
    file = tmp_path / "said"
    running = pool.submit(call, server, "blocks", seconds=3, file=str(file))
    wait_for(lambda: bool(_pids(file)))
    fleet.bus.stop()
    wait_for(lambda: server.metrics()["sidecall_fleet_up"] == 0)
    assert not is_available(server, "echo")
    began = time.monotonic()
    refused = call(server, "echo", text="now")
    assert refused.status_code == 503
    assert "bus" in refused.json()["detail"]
    assert time.monotonic() - began < 1
    assert call(server, "at_home").status_code == 200
    time.sleep(3)
    fleet.bus.start()
    assert running.result(PATIENCE).json()["content"] == "still here"
    assert len(_pids(file)) == 1
    wait_for(lambda: is_available(server, "echo"))
    assert call(server, "echo", text="again").json()["content"] == "again"


def test_a_server_that_ends_takes_its_calls_along(fleet: Fleet, tmp_path: Path) -> None:
    """Nobody would hear their answers."""
    other = fleet.serve()
    wait_for(lambda: is_available(other, "waits"))
    file = tmp_path / "said"
    with ThreadPoolExecutor(1) as threads:
        left = threads.submit(call, other, "waits", file=str(file))
        wait_for(lambda: bool(_pids(file)))
        other.process.send_signal(signal.SIGKILL)
        with pytest.raises(httpx.HTTPError):
            left.result(PATIENCE)
    wait_for(lambda: "ended" in file.read_text())


def test_an_old_ticket_of_a_call_does_not_hide_its_new_one(fleet: Fleet, server: Server, tmp_path: Path) -> None:
    """A worker that finds both takes the one that counts."""
    file = tmp_path / "said"
    doomed = fleet.work("old")
    wait_for(lambda: is_available(server, "two_tickets"))
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(call, server, "two_tickets", file=str(file))
        wait_for(lambda: bool(_pids(file)))
        doomed.process.send_signal(signal.SIGKILL)
        # By now the second ticket was put for it, and it is not known any more, so that there is a third.
        wait_for(lambda: not is_available(server, "two_tickets"))
        fleet.work("old", "--slots", "4")
        assert answer.result(PATIENCE).json()["content"] == "second"
    assert len(_pids(file)) == 2


def test_a_call_that_has_not_begun_when_its_worker_is_killed_runs_elsewhere(
    fleet: Fleet, server: Server, pool: ThreadPoolExecutor, tmp_path: Path
) -> None:
    """Though it must not run twice: another holds up the worker that it was given to, whose outcome is unknown."""
    doomed = fleet.work("slow", "--slots", "2")
    wait_for(lambda: is_available(server, "holds"))
    held, noted = tmp_path / "held", tmp_path / "noted"
    holding = pool.submit(call, server, "holds", file=str(held))
    wait_for(lambda: bool(_pids(held)))
    waiting = pool.submit(call, server, "notes", file=str(noted))
    wait_for(lambda: server.metrics()['sidecall_fleet_running{queue="slow"}'] == 2)
    assert not noted.exists()
    fleet.work("slow")
    doomed.process.send_signal(signal.SIGKILL)
    assert waiting.result(PATIENCE).json()["content"] == "noted"
    assert len(_pids(noted)) == 1
    assert _pids(noted) != _pids(held)
    assert holding.result(PATIENCE).json()["response_metadata"]["error"]["kind"] == "outcome_unknown"
