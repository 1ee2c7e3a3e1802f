"""What is promised beside the floor, by the time that servers had the processor."""

from bench.load import Pace
from bench.overhead.over_floor import summarize
from bench.overhead.rows import HISTORY, PLAIN, SPANS
from bench.rows import FLOOR


def test_promises_go_by_the_processor_time_of_the_server_itself() -> None:
    """What the process had that writes the history is told beside; calls per second do not count."""
    paces = {
        FLOOR: [Pace(9_000, 1.0, 2.0, 40.0)] * 3,
        PLAIN: [Pace(1_000, 1.0, 2.0, 50.0)] * 3,
        SPANS: [Pace(9_000, 1.0, 7.0, 80.0)] * 3,
        HISTORY: [Pace(9_000, 1.0, 2.0, 60.0, beside_us=10.0)] * 3,
    }

    part = summarize(paces, {})

    assert [(figure.name, figure.measured.median, figure.bar, figure.met) for figure in part.figures] == [
        ("async tool ÷ Starlette floor, by server CPU", 0.8, 0.9, False),
        ("logs + spans ÷ Starlette floor, by server CPU", 0.5, 0.55, False),
        ("history in SQLite ÷ Starlette floor, by server CPU", 0.8, 0.75, True),
        ("logs + spans, p99", 7.0, 5.0, False),
    ]
    assert part.rows[1] == (PLAIN, "1,000", "1.00", "2.00", "50.0", "", "0.80")
    assert part.rows[3] == (HISTORY, "9,000", "1.00", "2.00", "50.0", "10.00", "0.80")


def test_a_row_whose_time_nobody_counts_has_no_figure() -> None:
    """It is listed with the reason."""
    part = summarize({FLOOR: [Pace(9_000, 1.0, 2.0, None)]}, {})

    assert (part.rows, part.figures) == ((), ())
    assert part.skipped == {FLOOR: "nobody counts processor time here"}
