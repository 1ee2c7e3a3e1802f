"""What the console costs, and how soon its pages are there."""

from bench.console import ALSO_OFF, BARS, FORM, LIST, OFF, ON, REFERENCE, summarize
from bench.load import Pace


def test_calls_and_pages_are_compared() -> None:
    """By the processor time of a call, and by what is painted and usable beside the reference."""
    # Two starts of three turns each, whose mean counts.
    with_console = [Pace(1, 1, 1, used) for used in (60.0, 50.0, 43.0, 60.0, 50.0, 43.0)]
    paces = {ON: with_console, OFF: [Pace(1, 1, 1, 50.0)] * 6, ALSO_OFF: [Pace(1, 1, 1, 50.5)] * 6}
    visits = {FORM: [(100.0, 250.0)] * 3, LIST: [(80.0, 90.0)] * 3, REFERENCE: [(400.0, 500.0)] * 3}
    part = summarize(paces, visits, {})

    assert [(figure.name, figure.measured.median, figure.met) for figure in part.figures] == [
        ("calls with the console on ÷ off", 1.02, True),
        ("a tool's form: first paint", 100.0, True),
        ("a tool's form: usable", 250.0, True),
        ("a tool's form: first paint ÷ /docs", 0.25, True),
        ("a tool's form: usable ÷ /docs", 0.5, False),
        ("the list of tools: first paint", 80.0, True),
        ("the list of tools: usable", 90.0, True),
        ("the list of tools: first paint ÷ /docs", 0.2, True),
        ("the list of tools: usable ÷ /docs", 0.18, True),
    ]


def test_every_promise_is_about_rows_that_are_measured() -> None:
    """None is left out by its name."""
    pace, visit = [Pace(1, 1, 1, 50.0)], [(1.0, 2.0)]
    part = summarize({ON: pace, OFF: pace, ALSO_OFF: pace}, {FORM: visit, LIST: visit, REFERENCE: visit}, {})

    assert len(part.figures) == len(BARS)
