"""Commands in the sandbox, compared with a bare bubblewrap that runs the same."""

import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from tempfile import TemporaryDirectory

import httpx

from bench.environments import Unavailable
from bench.load import drive, new_client
from bench.machine import Cores
from bench.results import Bar, Part
from bench.rounds import spread, take_turns
from bench.rows import call_of, tool_call
from bench.servers import Running, running, sidecall
from bench.tables import tabulate
from sidecall.features.sandbox.bubblewrap import Mount, bind_system, write_arguments
from sidecall.features.sandbox.confined import encode_arguments, open_files
from sidecall.features.sandbox.launcher import store_bytes
from sidecall.kernel.ports.sandbox import HOME, SandboxLimits

HELD, NEW, BARE = "bash `true` in a conversation, ms", "bash `true`, the first of one, ms", "bare bubblewrap, ms"
BESIDE, BESIDE_BARE = (
    "p99 of plain calls beside 2 clients of bash, ms",
    "the same beside 2 loops of bare bubblewrap, ms",
)
BARS = (
    Bar("bash `true` in a conversation ÷ bare bubblewrap", HELD, BARE, 0.8, at_least=False, aim=0.6),
    Bar("bash `true`, the first of a conversation ÷ bare bubblewrap", NEW, BARE, 1.8, at_least=False, aim=1.5),
    Bar("p99 of plain calls beside bash ÷ beside bare bubblewrap", BESIDE, BESIDE_BARE, 1.3, at_least=False),
)
_SERVER = sidecall(
    *("--tools", "bench/tools.py"),
    SIDECALL_TOOLKITS="shell",
    SIDECALL_SHELL_ALLOW="true",
    SIDECALL_STORE="memory://",
    SIDECALL_HISTORY="off",
)
_TIMES = 20
_MOST_ROUNDS = 7
# Seconds between two commands: a model takes longer, and what is made ready meanwhile has its time.
_THOUGHT = 0.05
_CLIENTS = 2
# Turns of plain calls in each round, and their seconds: what the slowest hundredth of a second's calls waits for are
# five moments, so that it differs much from one second to the next.
_TURNS_BESIDE, _SECONDS_BESIDE = 2, 4


def measure(rounds: int, cores: Cores) -> Part:
    """Let them take turns, one command each, all on the cores that there are."""
    missing = None if shutil.which("bwrap") else "there is no bubblewrap here"
    with ExitStack() as stack:
        cores = stack.enter_context(cores.shared())
        try:
            server = None if missing else stack.enter_context(running(_SERVER, cores))
        except Unavailable as error:
            server, missing = None, str(error)
        if server is None:
            skipped = dict.fromkeys((HELD, NEW, BARE), missing or "")
            return tabulate("Commands in the sandbox", "ms", {}, BARS, skipped)
        client = stack.enter_context(new_client())
        turns: dict[str, Callable[[], float]] = {
            HELD: partial(_ask, client, server.url, "held"),
            NEW: partial(_ask, client, server.url, None),
            BARE: _run_bare,
        }
        beside = {BESIDE: partial(_load, server, _ask_again), BESIDE_BARE: partial(_load, server, _run_bare_again)}
        take_turns(turns, 1)
        rounds = min(rounds, _MOST_ROUNDS)
        series, failed = take_turns(turns, rounds * _TIMES)
        loaded, failed_beside = take_turns(beside, rounds * _TURNS_BESIDE)
    medians = {name: _take_medians(taken, rounds) for name, taken in series.items()}
    return tabulate(
        "Commands in the sandbox", f"ms, the median of {_TIMES}", {**medians, **loaded}, BARS, failed | failed_beside
    )


def _take_medians(taken: list[float], rounds: int) -> list[float]:
    """Return the median of each round."""
    return [spread(taken[number * _TIMES : (number + 1) * _TIMES]).median for number in range(rounds)]


def _ask(client: httpx.Client, url: str, conversation: str | None) -> float:
    headers = {"Sidecall-Conversation": conversation or f"new-{time.time_ns()}"}
    begun = time.perf_counter()
    answer = client.post(f"{url}/tool_calls", json=call_of("bash", {"command": "true"}), headers=headers)
    took = (time.perf_counter() - begun) * 1000
    if answer.status_code != httpx.codes.OK or answer.json()["status"] != "success":
        raise Unavailable(f"answers {answer.status_code} {answer.text[:120]}")
    time.sleep(_THOUGHT)
    return took


def _run_bare() -> float:
    """Run `true` in a bubblewrap with the arguments that a command's has, but for a workspace's folder."""
    begun = time.perf_counter()
    with TemporaryDirectory() as folder, ExitStack() as theirs:
        files = open_files({}, theirs)
        mounts = [Mount(folder, HOME, is_writable=True)]
        options = write_arguments(bind_system(), mounts, SandboxLimits(), files, HOME, {})
        arguments = store_bytes(encode_arguments(options), theirs)
        command = ["bwrap", "--args", str(arguments), "--", "true"]
        done = subprocess.run(command, capture_output=True, check=False, pass_fds=[*files.values(), arguments])
    took = (time.perf_counter() - begun) * 1000
    if done.returncode:
        raise Unavailable(f"bubblewrap fails: {done.stderr.decode(errors='replace')[-120:]}")
    time.sleep(_THOUGHT)
    return took


def _load(server: Running, work: Callable[[httpx.Client, str, int], object]) -> float:
    """Return the 99th percentile of plain calls while clients do this work at the pace of a command each."""
    with _beside(server.url, work):
        return drive(server, tool_call("echo", {"text": "hi"}, "hi"), _SECONDS_BESIDE).p99_ms


@contextmanager
def _beside(url: str, work: Callable[[httpx.Client, str, int], object]) -> Iterator[None]:
    is_over = threading.Event()

    def repeat(client: httpx.Client, number: int) -> None:
        while not is_over.is_set():
            work(client, url, number)

    # Made before, since each reads the machine's certificates, which takes longer than a command.
    with ExitStack() as stack:
        clients = [stack.enter_context(new_client()) for _ in range(_CLIENTS)]
        threads = [threading.Thread(target=repeat, args=one) for one in zip(clients, range(_CLIENTS), strict=True)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            is_over.set()
            for thread in threads:
                thread.join()


def _ask_again(client: httpx.Client, url: str, number: int) -> None:
    _ask(client, url, f"beside {number}")


def _run_bare_again(_client: httpx.Client, _url: str, _number: int) -> None:
    _run_bare()
