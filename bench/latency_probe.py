"""Ask a server small questions all the while, from a process of its own, and remember how long the answers took."""

import argparse
import http.client
import json
import queue
import subprocess
import sys
import threading
import time
from dataclasses import asdict, dataclass, field
from types import TracebackType

from bench.environments import ROOT
from bench.rounds import milliseconds, percentile

_PATIENCE = 120.0
_CALL = '{"name": "calculator", "args": {"expression": "6 * 7"}, "id": "call_1"}'
_JSON = {"Content-Type": "application/json"}
_MORE = "more\n"


@dataclass
class Seen:
    """The seconds of each answer, what failed, and how many connections it took."""

    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    connections: int = 0

    @property
    def worst(self) -> float:
        """The seconds of the slowest answer."""
        return max(self.seconds)

    @property
    def p99(self) -> float:
        """The seconds that one answer in a hundred took longer than."""
        return percentile(self.seconds, 0.99)

    def __str__(self) -> str:
        figures = {"p50": percentile(self.seconds, 0.5), "p99": self.p99, "largest": self.worst}
        said = ", ".join(f"{name} {milliseconds(figure)}" for name, figure in figures.items())
        return said + (f", {len(self.failures)} failed ({self.failures[0]})" if self.failures else "")


class LatencyProbe:
    """Ask from entering to leaving; what was seen is there afterwards.

    It makes a connection for each question when it is `fresh`, else it keeps one as long as the server does. Questions
    are `GET /healthz`, or calls of the calculator when it is `calling`.
    """

    def __init__(self, port: int, every: float = 0.005, *, fresh: bool = False, calling: bool = False) -> None:
        options = [str(port), str(every), *(["--fresh"] if fresh else []), *(["--calling"] if calling else [])]
        self._command = [sys.executable, "-m", __name__, *options]
        self.seen = Seen()

    def __enter__(self) -> Seen:
        self._process = subprocess.Popen(
            self._command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()  # The first question is answered.
        return self.seen

    def look(self) -> Seen:
        """Return what was seen since entering or the last look; the first question of what is seen next is answered."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(_MORE)
        self._process.stdin.flush()
        return Seen(**json.loads(self._process.stdout.readline()))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        said, _ = self._process.communicate("enough\n", _PATIENCE)
        self.seen.__dict__.update(json.loads(said))  # The code that entered holds this very object.


class _Asking:
    """Ask again and again."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._connection: http.client.HTTPConnection | None = None
        self.seen = Seen()

    def ask(self) -> None:
        began = time.perf_counter()
        try:
            self._ask()
        except (OSError, http.client.HTTPException) as error:
            self.seen.failures.append(type(error).__name__)
            self._hang_up()
        self.seen.seconds.append(time.perf_counter() - began)

    def tell(self) -> str:
        """Say what was seen, as JSON, once the first question of what is seen next is answered."""
        seen, self.seen = self.seen, Seen()
        self.ask()
        return json.dumps(asdict(seen))

    def _ask(self) -> None:
        if self._connection is None:
            self._connection = http.client.HTTPConnection("127.0.0.1", self._options.port, timeout=_PATIENCE)
            self._connection.connect()
            # Otherwise it would silently connect again where the server has hung up.
            self._connection.auto_open = 0
            self.seen.connections += 1
        if self._options.calling:
            self._connection.request("POST", "/tool_calls", _CALL, _JSON)
        else:
            self._connection.request("GET", "/healthz")
        answer = self._connection.getresponse()
        answer.read()
        if answer.status != http.client.OK:
            self.seen.failures.append(str(answer.status))
        if self._options.fresh:
            self._hang_up()

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _read_lines(lines: queue.SimpleQueue[str]) -> None:
    for line in sys.stdin:
        lines.put(line)
    lines.put("")


def main() -> None:
    """Ask until a line comes in, and then say what was seen; the line `more` is answered amid the questions."""
    parser = argparse.ArgumentParser(prog="python -m bench.latency_probe", description=__doc__)
    parser.add_argument("port", type=int)
    parser.add_argument("every", type=float)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--calling", action="store_true")
    options = parser.parse_args()
    asking = _Asking(options)
    lines = queue.SimpleQueue[str]()
    asking.ask()
    print("asking", flush=True)
    threading.Thread(target=_read_lines, args=(lines,), daemon=True).start()
    line = _MORE
    while line == _MORE:
        try:
            line = lines.get(timeout=options.every)
        except queue.Empty:
            asking.ask()
        else:
            print(asking.tell(), flush=True)


if __name__ == "__main__":
    main()
