"""Ask a server for its health every two milliseconds, from a process of its own, and say how long the worst took.

`python -m bench.prober PORT` answers each line on its standard input with the milliseconds of the longest answer since
the line before.
"""

import select
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from subprocess import PIPE, Popen
from typing import IO

from bench.environments import ROOT, Unavailable
from bench.servers import plain_environment

_ASKED = b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"
_RIGHT = b"HTTP/1.1 200 "
_EVERY = 0.002
_PATIENCE = 30.0


@dataclass(frozen=True)
class Prober:
    """A process that asks."""

    asks: IO[str]
    says: IO[str]

    def worst_ms(self) -> float:
        """Return the milliseconds of the longest answer since this was asked last.

        Raises:
            Unavailable: The server has not answered as it should.
        """
        try:
            self.asks.write("\n")
            self.asks.flush()
            said = self.says.readline()
        except BrokenPipeError:
            said = ""
        if not said:
            raise Unavailable("the server does not say how it is")
        return float(said)


@contextmanager
def probing(port: int) -> Iterator[Prober]:
    """Ask within the body."""
    command = [sys.executable, "-m", "bench.prober", str(port)]
    with Popen(command, cwd=ROOT, env=plain_environment(), text=True, stdin=PIPE, stdout=PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        prober = Prober(process.stdin, process.stdout)
        try:
            prober.worst_ms()
            yield prober
        finally:
            process.terminate()


def main() -> None:
    """Ask until the standard input ends."""
    worst = 0.0
    with socket.create_connection(("127.0.0.1", int(sys.argv[1])), _PATIENCE) as connection:
        while True:
            worst = max(worst, _ask(connection))
            if not select.select([sys.stdin], [], [], _EVERY)[0]:
                continue
            if not sys.stdin.readline():
                return
            print(worst * 1000, flush=True)
            worst = 0.0


def _ask(connection: socket.socket) -> float:
    begun = time.perf_counter()
    connection.sendall(_ASKED)
    answer = connection.recv(65536)
    if not answer.startswith(_RIGHT):
        raise SystemExit(1)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
