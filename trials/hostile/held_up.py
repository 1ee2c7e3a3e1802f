"""Send input of callers, models and tools at each bound, while a probe asks every 10 ms."""

from collections.abc import Iterator, Mapping, Sequence
from tempfile import TemporaryDirectory

import httpx

from bench.latency_probe import LatencyProbe
from bench.rounds import milliseconds
from tests.kit.postgres import find_programs, running
from trials.finding import Finding
from trials.hostile.holding import answers, bodies, choices, headers, kept, listings, packets, upstreams
from trials.hostile.holding.case import Case
from trials.serving import serving

_FEW = "trials/served/held.py,trials/served/chosen.py"
_MANY = f"trials/served/many.py,{_FEW}"
_EVERY = 0.01
_LONGEST = 0.1
# The best of so many counts: others have their turn on the machine, too. What is well within the bound is done once.
_TIMES = 3
_WELL_WITHIN = 0.06
_OTHERS = [*bodies.CASES, *choices.CASES, *answers.CASES, *kept.CASES, *headers.CASES, *packets.CASES, *upstreams.CASES]
# Of each kind, so that lists stay small.
_SHORT = [*listings.CASES[::4], *bodies.CASES[::4], *answers.CASES[::4], *kept.CASES[::4], *headers.CASES[::8]]


def run() -> Iterator[Finding]:
    """Do each of them, with what is remembered in SQLite, and in PostgreSQL where its programs are here."""
    yield from _run_all("SQLite", {})
    programs = find_programs()
    if programs is not None:
        with running(programs) as cluster:
            settings = {"SIDECALL_STORE": cluster.address(cluster.make_database())}
            yield from _run_all("PostgreSQL", settings)


def run_shortly() -> Iterator[Finding]:
    """Do some of them once, with few tools."""
    yield from _run("SQLite", {}, _SHORT, _FEW, times=1)


def _run_all(kind: str, settings: Mapping[str, str]) -> Iterator[Finding]:
    yield from _run(kind, settings, listings.CASES, _MANY)
    yield from _run(kind, settings, _OTHERS, _FEW)


def _run(
    kind: str, settings: Mapping[str, str], cases: Sequence[Case], tools: str, times: int = _TIMES
) -> Iterator[Finding]:
    for case, waited, held, status in do_all(settings, cases, tools, times):
        yield Finding(
            f"held up, {kind}",
            f"{case.what}: {case.bound}",
            "answered; the event loop is held up for 100 ms at most",
            f"{status}; held up for {milliseconds(held)}; the worst that others waited was {milliseconds(waited)}",
            status < 500,
            in_time=held <= _LONGEST,
        )


def do_all(
    settings: Mapping[str, str], cases: Sequence[Case], tools: str, times: int
) -> Iterator[tuple[Case, float, float, int]]:
    """Do each case; give the seconds that others waited, those that the loop was held up, and the answer's status."""
    with TemporaryDirectory() as folder:
        kept_in = {"SIDECALL_STORE": f"sqlite:///{folder}/ledger.db", "SIDECALL_WORKSPACE_DIR": f"{folder}/workspaces"}
        kits = {"SIDECALL_TOOLKITS": "files,python,shell,file_search", "SIDECALL_PROCESSES": "1"}
        wanted = {**kept_in, **kits, **upstreams.SETTINGS, "TRIAL_KEY": "hidden-word-0123456789", **settings}
        with (
            serving(tools, **wanted) as server,
            httpx.Client(base_url=server.url, trust_env=False, timeout=120) as client,
            (probe := LatencyProbe(server.port, _EVERY)),
        ):
            for case in cases:
                found = [_do(probe, client, case)]
                while len(found) < times and found[-1][1] > _WELL_WITHIN:
                    found.append(_do(probe, client, case))
                waited, held, status = min(found, key=lambda one: one[1])
                yield case, waited, held, status


def _do(probe: LatencyProbe, client: httpx.Client, case: Case) -> tuple[float, float, int]:
    ask_lag(client)
    probe.look()
    answer = case.ask(client)
    return probe.look().worst, ask_lag(client), answer.status_code


def ask_lag(client: httpx.Client) -> float:
    """Return for how long the event loop was held up at most since this was last asked, by its own clock."""
    return float(client.post("/tool_calls", json={"name": "lag", "args": {}, "id": "lag"}).json()["content"])
