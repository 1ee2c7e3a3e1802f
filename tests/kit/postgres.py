"""A PostgreSQL server of the tests' own, made of the programs that this machine has."""

import asyncio
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import asyncpg
import pytest

from tests.kit.waiting import PATIENCE

_MOMENT = 0.05
_USER = "sidecall"
_PASSWORD = "open sesame"
# PostgreSQL does not run as root; Debian's package makes the first of these, and every system has the second.
_UNPRIVILEGED = ("postgres", "nobody")


def find_programs() -> Path | None:
    """Return the folder that has PostgreSQL's programs, those of the newest version; None when there is none."""
    on_path = shutil.which("postgres")
    found = [] if on_path is None else [Path(on_path).resolve().parent]
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    return next((folder for folder in [*found, *reversed(debian)] if (folder / "initdb").exists()), None)


@dataclass
class Cluster:
    """A server that can be stopped, killed and started again; its databases stay.

    With `syncs` what is committed is on the disk, as in earnest.
    """

    programs: Path
    folder: Path
    port: int
    syncs: bool = False
    _process: subprocess.Popen[bytes] | None = None
    _numbers: Iterator[int] = field(default_factory=count)

    @property
    def log(self) -> str:
        """What it has printed so far."""
        return (self.folder / "log").read_text(errors="replace")

    @property
    def pid(self) -> int | None:
        """The process that all others of it are children of."""
        return None if self._process is None else self._process.pid

    def address(self, database: str, *, password: str = _PASSWORD) -> str:
        """Return the URL of a database."""
        return f"postgresql://{_USER}:{password.replace(' ', '%20')}@127.0.0.1:{self.port}/{database}"

    def prepare(self) -> None:
        """Create an empty cluster, whose only user has a password."""
        password = self.folder / "password"
        password.write_text(_PASSWORD)
        owner = _find_owner()
        if owner is not None:
            for path in (self.folder, password):
                shutil.chown(path, owner["user"], owner["group"])
        data = ("--pgdata", self.folder / "data", "--username", _USER, "--pwfile", password)
        how = ("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions", "--no-sync")
        self._run("initdb", *data, *how)

    def start(self) -> None:
        """Start, and return when it answers."""
        # No test takes the machine's power away, and only that loses what was not synced.
        lean = ("-c", "full_page_writes=off", "-c", "jit=off")
        fast = () if self.syncs else ("-F", *lean)
        where = (*fast, "-D", self.folder / "data", "-p", str(self.port), "-h", "127.0.0.1", "-k", self.folder)
        limit = time.monotonic() + PATIENCE
        while True:
            with (self.folder / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    [self.programs / "postgres", *where], stdout=log, stderr=log, cwd=self.folder, **as_owner()
                )
            if self._becomes_ready(limit):
                return
            # Children of one that was killed may hold its memory for a moment.
            assert time.monotonic() < limit, self.log
            time.sleep(_MOMENT)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """End it and all its connections; SIGQUIT as in a crash of it, SIGKILL as in one of the machine."""
        if self._process is None:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()
            self._process = None

    def make_database(self) -> str:
        """Make an empty database, and return its name."""
        name = f"test_{next(self._numbers)}"
        self.run("createdb", name)
        return name

    def make_user(self) -> str:
        """Make a user who may do nothing yet, with the password "x", and return their name."""
        name = f"user_{next(self._numbers)}"
        self.run("psql", "-q", "-d", "postgres", "-c", f"CREATE ROLE {name} LOGIN PASSWORD 'x'")
        return name

    def run(self, program: str, *arguments: str) -> str:
        """Run one of PostgreSQL's programs against the cluster, and return what it prints."""
        return self._run(program, "-h", "127.0.0.1", "-p", str(self.port), "-U", _USER, *arguments)

    def _run(self, program: str, *arguments: Any) -> str:
        command = [self.programs / program, *arguments]
        environment = {**os.environ, "PGPASSWORD": _PASSWORD}
        done: subprocess.CompletedProcess[str] = subprocess.run(
            command, capture_output=True, text=True, cwd=self.folder, env=environment, timeout=PATIENCE, **as_owner()
        )
        assert done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"
        return done.stdout

    def _becomes_ready(self, limit: float) -> bool:
        assert self._process is not None
        while self._process.poll() is None:
            ready = subprocess.run([self.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)])
            if ready.returncode == 0:
                return True
            assert time.monotonic() < limit, self.log
            time.sleep(_MOMENT)
        return False


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Start a server when the first test asks for one; every test leaves it running."""
    programs = find_programs()
    if programs is None:
        missing = "PostgreSQL is not installed; scripts/install-postgres gets it"
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
    with running(programs) as made:
        yield made


@contextmanager
def running(programs: Path, *, syncs: bool = False) -> Iterator[Cluster]:
    """Make a cluster of these programs and start it; remove it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="sidecall-postgres-"))
    made = Cluster(programs, folder, find_free_port(), syncs)
    try:
        made.prepare()
        made.start()
        yield made
    finally:
        made.stop(signal.SIGQUIT)  # Nothing of it is wanted any more.
        shutil.rmtree(folder)


@pytest.fixture
def postgres_url(cluster: Cluster) -> str:
    """Give the address of an empty database."""
    return cluster.address(cluster.make_database())


@dataclass(frozen=True)
class Estate:
    """An empty database of a user without other rights; `admin_url` connects as an administrator."""

    url: str
    admin_url: str
    user: str
    database: str

    async def administer(self, *statements: str, database: str | None = None) -> None:
        """Execute statements as an administrator, optionally in another database; `{user}` is replaced by the user."""
        where = self.admin_url if database is None else f"{self.admin_url.rpartition('/')[0]}/{database}"
        connection = await asyncpg.connect(where)
        try:
            for statement in statements:
                await connection.execute(statement.format(user=self.user, database=self.database))
        finally:
            await connection.close()


@pytest.fixture
def estate(cluster: Cluster) -> Estate:
    """Give an empty database of a user of its own."""
    name = cluster.make_user()
    cluster.run("createdb", "--owner", name, name)
    host = f"127.0.0.1:{cluster.port}"
    return Estate(f"postgresql://{name}:x@{host}/{name}", cluster.address(name), name, name)


@pytest.fixture
def emptied_url(cluster: Cluster) -> str:
    """Give the address of a database whose tables were emptied, which is cheaper than a new one."""
    url = cluster.address("postgres")
    with ThreadPoolExecutor(1) as thread:  # In this one an event loop may run.
        thread.submit(asyncio.run, _empty(url)).result()
    return url


async def _empty(url: str) -> None:
    connection = await asyncpg.connect(url)
    try:
        await empty_tables(connection)
    finally:
        await connection.close()


async def empty_tables(connection: asyncpg.Connection) -> None:
    """Delete all rows but the version of the tables, and restart sequences."""
    rows = await connection.fetch("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
    tables = [f'"{row[0]}"' for row in rows if row[0] not in ("schema_version", "feature_versions")]
    # Where there is next to nothing in them, this takes a fraction of TRUNCATE, which makes a new file for each.
    numbers = "SELECT setval(c.oid, 1, false) FROM pg_class c WHERE relkind = 'S'"
    await connection.execute("; ".join([*(f"DELETE FROM {table}" for table in tables), numbers]))


def _find_owner() -> dict[str, Any] | None:
    if os.getuid() != 0:
        return None
    known = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = next(known[name] for name in _UNPRIVILEGED if name in known)
    return {"user": entry.pw_uid, "group": entry.pw_gid}


def as_owner() -> dict[str, Any]:
    """Return the arguments that start a process as the user who may run the programs."""
    owner = _find_owner()
    return {} if owner is None else {**owner, "extra_groups": []}


def find_free_port() -> int:
    """Find a free port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port
