"""Programs that run calls durably as Sidecall does: written down, run, and answered once their end is written down."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from bench.environments import version_of
from bench.load import Request
from bench.machine import Cores
from bench.servers import Running, Server, running

# The packages, and the databases that each can use.
WORKERS: Mapping[str, Sequence[str]] = {
    "dbos": ("on SQLite", "on PostgreSQL"),
    "procrastinate": ("on PostgreSQL",),
}
ASKED = Request("/echo", '{"text": "hi"}', ("content",), "hi")


@contextmanager
def start_worker(package: str, address: str, cores: Cores) -> Iterator[Running]:
    """Start one in its own environment, with an empty database.

    Raises:
        Unavailable: It cannot be installed, or does not start.
    """
    with running(Server(("-m", f"bench.peers.{package}", "{port}", address), peer=package), cores) as server:
        yield server


def worker_versions() -> dict[str, str]:
    """Return the versions of those that are measured."""
    return {package: version_of(package) for package in WORKERS}
