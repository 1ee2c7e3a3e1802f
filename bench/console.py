"""What the console costs programs that never open it, and how soon its pages are there, beside the API's reference."""

import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from bench import rows
from bench.environments import Unavailable
from bench.load import Pace, count_processor
from bench.machine import Cores
from bench.paired_servers import STARTS_A_ROUND, call_pairs, join_turns
from bench.results import Bar, Part
from bench.rounds import take_turns
from bench.servers import Server, running, sidecall
from bench.tables import tabulate
from tests.kit.browser import NAMES, browsing, find_browser

ON, OFF, ALSO_OFF = "a call, console on, µs", "a call, console off, µs", "a call, another server with it off, µs"
_NOTHING_KEPT = {"SIDECALL_STORE": "memory://", "SIDECALL_HISTORY": "off"}
_SERVERS: Mapping[str, Server] = {
    name: sidecall("--tools", "bench/tools.py", SIDECALL_CONSOLE=console, **_NOTHING_KEPT)
    for name, console in ((ON, "on"), (OFF, "off"), (ALSO_OFF, "off"))
}
_ASKED = rows.ROWS[rows.ASYNC].request

FORM, LIST, REFERENCE = "a tool's form", "the list of tools", "/docs"
# Where each is, and what has to be there before a person can use it.
_PAGES: Mapping[str, tuple[str, str]] = {
    FORM: ("/console/tools/place_order", "#args-form textarea, #args-form input"),
    LIST: ("/console/tools", "[data-row]"),
    REFERENCE: ("/docs", ".opblock"),
}
_SHOWN = sidecall("--tools", "tests/features/console/console_tools.py", SIDECALL_CONSOLE="on", **_NOTHING_KEPT)
# Says when the browser has first painted something, and when the page can be used: at the load event at the latest.
_LOOK = """
new Promise((done) => {
  let isLate = false;
  const look = () => {
    const paint = performance.getEntriesByName("first-paint")[0];
    const [page] = performance.getEntriesByType("navigation");
    if (paint && page.loadEventStart > 0 && document.querySelector("SELECTOR")) {
      done([paint.startTime, isLate ? performance.now() : page.loadEventStart]);
      return;
    }
    isLate = page.loadEventStart > 0;
    setTimeout(look, 1);
  };
  look();
})
"""
# A paint comes a few milliseconds sooner or later each time.
_VISITS_A_ROUND, _MOST_VISITS = 3, 15


def _painted(page: str) -> str:
    return f"{page}: first paint, ms"


def _usable(page: str) -> str:
    return f"{page}: usable, ms"


BARS = (
    Bar("calls with the console on ÷ off", ON, OFF, 1.02, at_least=False),
    *(
        bar
        for page in (FORM, LIST)
        for bar in (
            Bar(f"{page}: first paint", _painted(page), None, 500, at_least=False, unit="ms"),
            Bar(f"{page}: usable", _usable(page), None, 1000, at_least=False, unit="ms"),
            Bar(f"{page}: first paint ÷ {REFERENCE}", _painted(page), _painted(REFERENCE), 0.333, at_least=False),
            Bar(f"{page}: usable ÷ {REFERENCE}", _usable(page), _usable(REFERENCE), 0.333, at_least=False),
        )
    ),
)


def measure(rounds: int, cores: Cores) -> Part:
    """Let servers with the console and without answer side by side, and then visit its pages and the reference."""
    paces, skipped = call_pairs(_SERVERS, _ASKED, rounds * STARTS_A_ROUND, cores)
    visits, missing = _visit_all(min(rounds * _VISITS_A_ROUND, _MOST_VISITS), cores)
    return summarize(paces, visits, {**skipped, **missing})


def summarize(
    paces: Mapping[str, list[Pace]], visits: Mapping[str, list[tuple[float, float]]], skipped: Mapping[str, str]
) -> Part:
    """Make the table: of calls with one figure for each start of the servers."""
    turns, uncounted = count_processor(paces)
    used = {name: join_turns(taken) for name, taken in turns.items()}
    painted = {_painted(page): [paint for paint, _ in taken] for page, taken in visits.items()}
    usable = {_usable(page): [ready for _, ready in taken] for page, taken in visits.items()}
    series = {**used, **painted, **usable}
    return tabulate("The console", "µs of the server's processor, or ms", series, BARS, {**skipped, **uncounted})


def _visit_all(rounds: int, cores: Cores) -> tuple[dict[str, list[tuple[float, float]]], dict[str, str]]:
    program = find_browser()
    if program is None:
        return {}, {_painted(page): f"no browser here ({', '.join(NAMES)})" for page in _PAGES}
    with ExitStack() as stack:
        server = stack.enter_context(running(_SHOWN, cores))
        turns: dict[str, Callable[[], tuple[float, float]]] = {
            page: partial(_visit, program, server.url, path, selector) for page, (path, selector) in _PAGES.items()
        }
        take_turns(turns, 1)  # The server makes its pages ready.
        return take_turns(turns, rounds)


def _visit(program: str, url: str, path: str, selector: str) -> tuple[float, float]:
    """Open a page in a new browser, which knows nothing of it, and return when it was painted and usable.

    Raises:
        Unavailable: The browser could not.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            with browsing(program, Path(folder)) as browser:
                browser.go_to(f"{url}/healthz")  # So that the start of the browser is not counted.
                browser.go_to(f"{url}{path}")
                painted, usable = browser.run(_LOOK.replace("SELECTOR", selector))
        except AssertionError as error:
            raise Unavailable(str(error)) from None
    return painted, usable
