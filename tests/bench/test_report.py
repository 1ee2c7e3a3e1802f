"""Records as people read them."""

import pytest

from bench.records import Record
from bench.report import tell_when, write_block, write_page
from bench.results import Bar, Figure, Part
from bench.rounds import Spread

FIGURES = (
    Figure("async ÷ floor", Spread(0.712, 0.7, 0.733), 0.7, aim=0.85, by_processor=0.72),
    Figure("memory", Spread(512.4, 500.0, 520.0), 400, at_least=False, unit="MB"),
)
PART = Part(
    title="Over HTTP",
    measures="calls per second",
    columns=("", "calls/s", "p50 ms"),
    rows=(("async | sync", "12,000", "1.00"),),
    series={"async | sync": [12000.0]},
    figures=FIGURES,
    skipped={"a peer": "does not start: ImportError: gone", "async | sync": "only in this run"},
)
MACHINE = {"processor": "Any, 2 cores", "python": "3.11.7", "wrk": "4.1.0"}
RECORD = Record("http", "2026-11-28T20:05+00:00", 3, 7, 61.2, MACHINE, FIGURES, (PART, PART, PART))
OTHER = Record("scale", "2026-11-29T20:05+00:00", 1, 7, 61.2, MACHINE, (), (PART,))
BARS = {
    "http": [Bar("async ÷ floor", "a", "f", 0.7, aim=0.85), Bar("memory", "m", None, 400, at_least=False)],
    "scale": [Bar("a call ÷ among 10", "many", "few", 1.05, at_least=False)],
}
PAGE = """# What was recorded

1 of 2 promised figures are met.

Missed:

- memory: 512 MB, ≤ 400

## Over HTTP

Recorded on 28 November 2026 in 3 runs, of which the worst counts, on Any, 2 cores, with Python 3.11.7. It took 61 s.

Machine and versions: python 3.11.7; wrk 4.1.0.

|  | measured | lowest to highest | by server CPU | bar |  |
| --- | ---: | ---: | ---: | ---: | ---: |
| async ÷ floor | 0.71 | 0.70 to 0.73 | 0.72 | ≥ 0.70 (aim 0.85) | met |
| memory | 512 MB | 500 to 520 |  | ≤ 400 | **missed** |

The table is that of the last run.

|  | calls/s | p50 ms |
| --- | ---: | ---: |
| async \\| sync | 12,000 | 1.00 |

| not measured | reason |
| --- | --- |
| a peer | does not start: ImportError: gone |
"""
BLOCK = """|  | measured | bar |  |
| --- | ---: | ---: | ---: |
| async ÷ floor | 0.71 | ≥ 0.70 (aim 0.85) | met |
| memory | 512 MB | ≤ 400 | **missed** |
| a call ÷ among 10 |  | ≤ 1.05 | {} |

{}
"""
WORST = "in 3 runs, of which the worst counts, on Any, 2 cores, with Python 3.11.7."


def test_a_page_has_the_promises_the_tables_and_what_is_missing() -> None:
    """Which promises are missed stands above all; a pipe in a cell does not break its table."""
    assert write_page("What was recorded", [RECORD]) == PAGE


@pytest.mark.parametrize(
    ("records", "verdict", "when"),
    [
        pytest.param([RECORD], "not recorded", f"Recorded on 28 November 2026 {WORST}", id="a part without a record"),
        pytest.param(
            [RECORD, OTHER],
            "not measured",
            f"http: recorded on 28 November 2026 {WORST} "
            "scale: recorded on 29 November 2026 in one run on Any, 2 cores, with Python 3.11.7.",
            id="a record without the figure",
        ),
    ],
)
def test_the_documentation_tells_of_every_promise(records: list[Record], verdict: str, when: str) -> None:
    """Also of those that nobody has measured; and when and where the others were."""
    block = write_block(BARS, {record.name: record for record in records})

    assert block == BLOCK.format(verdict, when)


def test_parts_that_were_recorded_alike_are_told_of_once() -> None:
    """By one sentence, without their names."""
    assert tell_when([OTHER, OTHER]) == ("Recorded on 29 November 2026 in one run on Any, 2 cores, with Python 3.11.7.")
