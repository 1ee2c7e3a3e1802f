"""Workers, servers and the bus end while calls run, and nothing is lost or run twice that must not be."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.features.fleet.conftest import Fleet, call, is_available, wait_for
from tests.kit.servers import PATIENCE, Server


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


def _kind(answer: Future[httpx.Response]) -> tuple[int, Any, str]:
    said = answer.result(PATIENCE)
    body = said.json()
    error = body.get("response_metadata", {}).get("error") or {}
    return said.status_code, error.get("kind"), str(body.get("content"))


def test_deaths_of_workers(fleet: Fleet, server: Server, pool: ThreadPoolExecutor, tmp_path: Path) -> None:
    """One that may runs again elsewhere, another does not; what kills three ends; what was frozen is not believed."""
    spares = [fleet.work("spare", "--slots", "2") for _ in range(2)]
    for _ in range(3):
        fleet.work("poison")
    frozen = [fleet.work("frozen") for _ in range(2)]
    wait_for(lambda: all(is_available(server, it) for it in ("waits_once", "kills", "freezes")))
    files = {name: tmp_path / name for name in ("safely", "once", "kills", "freezes")}
    poison = pool.submit(call, server, "kills", file=str(files["kills"]))
    safely = pool.submit(call, server, "waits_safely", file=str(files["safely"]))
    once = pool.submit(call, server, "waits_once", file=str(files["once"]))
    freezes = pool.submit(call, server, "freezes", file=str(files["freezes"]))
    wait_for(lambda: all(_pids(file) for file in files.values()))
    os.kill(_pids(files["freezes"])[0], signal.SIGSTOP)
    doomed = {_pids(files["safely"])[0], _pids(files["once"])[0]}
    began = time.monotonic()
    for pid in doomed:
        os.kill(pid, signal.SIGKILL)
    if len(doomed) == 2:
        fleet.work("spare")
    assert _kind(safely)[::2] == (200, "second")
    assert time.monotonic() - began < 10
    status, kind, text = _kind(once)
    assert (status, kind) == (200, "outcome_unknown")
    assert "waits_once" in text
    assert len(_pids(files["once"])) == 1
    assert _kind(freezes)[::2] == (200, "start 2")
    status, kind, text = _kind(poison)
    assert (status, kind) == (200, "poison")
    assert "3 times" in text
    assert len(set(_pids(files["kills"]))) == 3
    os.kill(_pids(files["freezes"])[0], signal.SIGCONT)
    assert server.metrics()["sidecall_fleet_lost_total"] == 6
    assert spares
    # The one that was frozen comes back, and serves again.
    wait_for(lambda: server.metrics()['sidecall_fleet_workers{queue="frozen"}'] == 2)
    os.kill(next(it.pid for it in frozen if it.pid != _pids(files["freezes"])[0]), signal.SIGKILL)
    assert call(server, "freezes", file=str(files["freezes"])).json()["content"] == "start 3"


def test_the_bus_goes_away_and_comes_back(
    fleet: Fleet, server: Server, pool: ThreadPoolExecutor, tmp_path: Path
) -> None:
    """What runs is answered, what comes meanwhile is refused at once, and what comes after runs."""
    fleet.work("spare", "--slots", "2")
    fleet.work("cpu", "--slots", "2")
    wait_for(lambda: is_available(server, "echo") and is_available(server, "waits_once"))
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
    assert _kind(running)[::2] == (200, "still here")
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
