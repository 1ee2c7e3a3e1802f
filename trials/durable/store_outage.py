"""A store that cannot be used for a while: locked, full, read-only, stopped, frozen or killed."""

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import uvloop

from sidecall.features.ledger.open_ledger import sqlite_path
from tests.kit.processes import find_writers, list_descendants
from tests.kit.servers import Server
from trials.durable.clients import Clients, Sent
from trials.durable.deployment import Deployment, homes
from trials.finding import Finding

# More than a page, so that each call needs room that there is not.
_TEXT = "x" * 20_000
_DISK = "5m"
_REFUSED = "503 store-unavailable, Retry-After"


@dataclass(frozen=True)
class _Fault:
    """A fault of the store, and whether durable calls may still be accepted during it."""

    words: str
    begin: Callable[[Deployment, Server], AbstractContextManager[None]]
    is_partial: bool = False


def run_shortly() -> Iterator[Finding]:
    """Try a disk that is full where this user may mount one, else a lock."""
    with homes("sqlite") as found, _disk(found[0]) as disk:
        yield _away(disk or found[0], _FULL if disk else _LOCKED, seconds=3.0)


def run() -> Iterator[Finding]:
    """Try all of it, B14 among them."""
    for fault in (_LOCKED, *([_READ_ONLY] if _may_forbid() else [])):
        with homes("sqlite") as found:
            yield _away(found[0], fault, seconds=10.0)
    with homes("sqlite") as found, _disk(found[0]) as disk:
        if disk is not None:
            yield _away(disk, _FULL, seconds=10.0)
    for fault in (_STOPPED, _FROZEN, _KILLED):
        with homes("postgres") as found:
            for home in found:
                yield _away(home, fault, seconds=10.0)


@contextmanager
def _disk(home: Deployment) -> Iterator[Deployment | None]:
    """Give a home on a small disk of its own; None where this user may mount none."""
    folder = home.folder / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={_DISK}", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        yield None
        return
    try:
        yield replace(home, kind=f"sqlite on {_DISK}B", store=f"sqlite:///{folder / 'ledger.db'}")
    finally:
        home.stop()  # Both have the same list of servers.
        subprocess.run(["umount", str(folder)], check=True)


def _find_files(home: Deployment) -> list[Path]:
    path = sqlite_path(home.store)
    assert path is not None
    # What SQLite shares in memory has a file as well, which is not a part of what it keeps.
    return [path, *(file for file in (Path(f"{path}-wal"),) if file.exists())]


@contextmanager
def _lock(home: Deployment, _server: Server) -> Iterator[None]:
    with closing(sqlite3.connect(_find_files(home)[0], check_same_thread=False)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield


@contextmanager
def _fill(home: Deployment, _server: Server) -> Iterator[None]:
    ballast = _find_files(home)[0].with_name("ballast")
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(b"x" * 4096):
            pass
    yield
    ballast.unlink()


@contextmanager
def _forbid(home: Deployment, server: Server) -> Iterator[None]:
    """Make the files read-only, and have them reopened: open descriptors ignore the mode."""
    files = _find_files(home)
    _forbid_all(files, forbid=True)
    for writer in find_writers(server.pid):
        os.kill(writer, signal.SIGKILL)
    try:
        yield
    finally:
        _forbid_all(files, forbid=False)


def _forbid_all(files: list[Path], *, forbid: bool) -> None:
    if os.getuid() == 0:
        # No mode keeps root from writing.
        subprocess.run(["chattr", "+i" if forbid else "-i", *files], check=True)
        return
    for file in files:
        file.chmod(0o400 if forbid else 0o600)


def _may_forbid() -> bool:
    if os.getuid() != 0:
        return True
    with homes("sqlite") as found:
        file = found[0].folder / "file"
        file.touch()
        try:
            _forbid_all([file], forbid=True)
            _forbid_all([file], forbid=False)
        except (OSError, subprocess.CalledProcessError):
            return False
        return True


@contextmanager
def _stop(home: Deployment, _server: Server) -> Iterator[None]:
    assert home.cluster is not None
    home.cluster.stop()
    yield
    home.cluster.start()


@contextmanager
def _kill(home: Deployment, _server: Server) -> Iterator[None]:
    assert home.cluster is not None
    home.cluster.stop(signal.SIGKILL)
    yield
    home.cluster.start()


@contextmanager
def _freeze(home: Deployment, _server: Server) -> Iterator[None]:
    """Stop the database server and its processes, whose connections stay."""
    assert home.cluster is not None
    assert home.cluster.pid is not None
    processes = [home.cluster.pid, *list_descendants(home.cluster.pid)]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    yield
    for process in processes:
        os.kill(process, signal.SIGCONT)


_LOCKED = _Fault("its file is locked by another program", _lock)
_READ_ONLY = _Fault("its file is made read-only, and the process that writes it killed", _forbid)
_FULL = _Fault("its disk is full", _fill, is_partial=True)
_STOPPED = _Fault("its database server is stopped", _stop)
_FROZEN = _Fault("its database server stands still", _freeze)
_KILLED = _Fault("its database server is killed with SIGKILL", _kill)


def _away(home: Deployment, fault: _Fault, seconds: float) -> Finding:
    server = home.start()
    return uvloop.run(_watch_while_away(home, fault, server, seconds))


async def _watch_while_away(home: Deployment, fault: _Fault, server: Server, seconds: float) -> Finding:
    clients = Clients(lambda: server)
    running = [Sent("add", f"ran meanwhile {number}") for number in range(30)]
    await asyncio.gather(*(clients.send(one, seconds / 2, Prefer="respond-async") for one in running))
    with fault.begin(home, server):
        plain, remembered, slowest = await _ask_for(clients, server, seconds)
    began = time.monotonic()
    after = Sent("add", "after")
    await clients.send(after, 0)
    recovered = time.monotonic() - began
    await asyncio.gather(*(clients.follow(one) for one in running))
    await clients.client.aclose()
    ends = Counter(one.ends[0]["status"] if one.ends else "lost" for one in running)
    once = sum(home.effects[one.mark] == 1 for one in running)
    some = ", or 200 where there is room" if fault.is_partial else ""
    return Finding(
        "B14",
        f"{home.kind}: {fault.words} for {seconds:g} s while 30 jobs run and calls come",
        f"plain calls: 200; remembered ones: 503 store-unavailable with Retry-After{some}; the jobs that ran have "
        "succeeded, once, and all goes on without a restart",
        f"plain {dict(plain)}, remembered {dict(remembered)}, slowest {slowest:.2f} s; jobs {dict(ends)}, {once} ran "
        f"once; usable {recovered:.2f} s after that",
        set(plain) == {"200"}
        and _REFUSED in remembered
        and set(remembered) <= {_REFUSED, *(["200"] if fault.is_partial else [])}
        and ends == {"succeeded": 30}
        and once == 30
        and bool(after.answers),
        slowest < 5,
    )


async def _ask_for(clients: Clients, server: Server, seconds: float) -> tuple[Counter[str], Counter[str], float]:
    until = time.monotonic() + seconds
    plain, remembered = Counter[str](), Counter[str]()
    slowest = 0.0
    number = 0
    while time.monotonic() < until:
        number += 1
        call = {"name": "echo", "args": {"mark": f"{number} {_TEXT}"}, "id": "1"}
        for found, headers in ((plain, {}), (remembered, {"Idempotency-Key": f"away {number}"})):
            began = time.monotonic()
            answer = await clients.client.post(f"{server.url}/tool_calls", json=call, headers=headers)
            found[_describe(answer)] += 1
            slowest = max(slowest, time.monotonic() - began)
        await asyncio.sleep(0.02)
    return plain, remembered, slowest


def _describe(answer: httpx.Response) -> str:
    """Write an answer's status, its problem and whether it says when to come again."""
    if answer.status_code in (httpx.codes.OK, httpx.codes.ACCEPTED):
        return str(answer.status_code)
    kind = str(json.loads(answer.content).get("type", "")).partition("problem:")[2]
    return f"{answer.status_code} {kind}" + (", Retry-After" if "Retry-After" in answer.headers else "")
