"""What a server holds after many calls, compared with what it held once it was warm."""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.environments import Unavailable
from bench.load import drive, new_client, verify
from bench.machine import Cores
from bench.results import RECORDED_ROUNDS, Bar, Part
from bench.rows import tool_call
from bench.servers import Running, running, sidecall
from bench.tables import tabulate

WARM, ALL, SOME = 80_000, 1_000_000, 160_000
EARLY, LATE = f"resident after {WARM:,} calls, MB", "resident after the last, MB"
MADE = "calls made"
BARS = (Bar(f"memory after {ALL:,} calls ÷ after {WARM:,}", LATE, EARLY, 1.1, at_least=False),)
_ECHO = tool_call("echo", {"text": "hi"}, "hi")


def measure(rounds: int, cores: Cores) -> Part:
    """Call until a million are made, or fewer in a quick run, with the history in a file."""
    most = ALL if rounds >= RECORDED_ROUNDS else SOME
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        store = f"sqlite:///{Path(folder) / 'ledger.db'}"
        try:
            server = stack.enter_context(running(sidecall("--tools", "bench/tools.py", SIDECALL_STORE=store), cores))
            series, failed = _call(server, most), dict[str, str]()
        except Unavailable as error:
            series, failed = {}, {"calls for a long time": str(error)}
    bars = BARS if most == ALL else ()
    return tabulate("Many calls, one after the other", "MB or calls", series, bars, failed)


def _call(server: Running, most: int) -> dict[str, list[float]]:
    with new_client() as client:
        verify(client, server.url, _ECHO)
    early = made = 0.0
    while made < most:
        made += drive(server, _ECHO).calls_per_second
        if not early and made >= WARM:
            early = server.resident_mb()
    return {EARLY: [early], LATE: [server.resident_mb()], MADE: [made]}
