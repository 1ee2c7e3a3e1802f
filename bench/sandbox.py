"""Commands in the sandbox, compared with a bare bubblewrap that runs the same."""

import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

import httpx

from bench.environments import Unavailable
from bench.load import new_client
from bench.machine import Cores
from bench.results import Bar, Part
from bench.rounds import spread, take_turns
from bench.rows import call_of
from bench.servers import running, sidecall
from bench.tables import tabulate

HELD, NEW, BARE = "bash `true` in a conversation, ms", "bash `true`, the first of one, ms", "bare bubblewrap, ms"
BARS = (
    Bar("bash `true` in a conversation ÷ bare bubblewrap", HELD, BARE, 0.8, at_least=False, aim=0.6),
    Bar("bash `true`, the first of a conversation ÷ bare bubblewrap", NEW, BARE, 1.8, at_least=False, aim=1.5),
)
# What it gets from us in the same order, with nothing that names a workspace.
_BARE = (
    *("bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/", "/"),
    *("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "bash", "-c", "true"),
)
_SERVER = sidecall(SIDECALL_TOOLKITS="shell", SIDECALL_SHELL_ALLOW="true", SIDECALL_STORE="memory://")
_TIMES = 20
_MOST_ROUNDS = 7


def measure(rounds: int, cores: Cores) -> Part:
    """Let them take turns, all on the cores that there are."""
    skipped = {} if shutil.which("bwrap") else dict.fromkeys((HELD, NEW, BARE), "there is no bubblewrap here")
    with ExitStack() as stack:
        cores = stack.enter_context(cores.shared())
        try:
            server = stack.enter_context(
                running(sidecall(SIDECALL_TOOLKITS="shell", SIDECALL_SHELL_ALLOW="true"), cores)
            )
        except Unavailable as error:
            skipped = dict.fromkeys((HELD, NEW, BARE), str(error))
        if skipped:
            return tabulate("Commands in the sandbox", "ms", {}, BARS, skipped)
        client = stack.enter_context(new_client())
        turns: dict[str, Callable[[], float]] = {
            HELD: partial(_ask, client, server.url, "held"),
            NEW: partial(_ask, client, server.url, None),
            BARE: _run_bare,
        }
        take_turns(turns, 1)
        series, failed = take_turns(turns, min(rounds, _MOST_ROUNDS))
    return tabulate("Commands in the sandbox", "ms, the median of 20", series, BARS, failed)


def _ask(client: httpx.Client, url: str, conversation: str | None) -> float:
    took: list[float] = []
    for number in range(_TIMES):
        headers = {"X-Sidecall-Conversation": conversation or f"new-{time.time_ns()}-{number}"}
        begun = time.perf_counter()
        answer = client.post(f"{url}/tool_calls", json=call_of("bash", {"command": "true"}), headers=headers)
        took.append((time.perf_counter() - begun) * 1000)
        if answer.status_code != httpx.codes.OK or answer.json()["status"] != "success":
            raise Unavailable(f"answers {answer.status_code} {answer.text[:120]}")
    return spread(took).median


def _run_bare() -> float:
    took: list[float] = []
    for _ in range(_TIMES):
        begun = time.perf_counter()
        done = subprocess.run(_BARE, capture_output=True, check=False)
        took.append((time.perf_counter() - begun) * 1000)
        if done.returncode:
            raise Unavailable(f"bubblewrap fails: {done.stderr.decode(errors='replace')[-120:]}")
    return spread(took).median
