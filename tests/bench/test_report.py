"""The report as people read it, and its quotation in the documentation."""

import json
from pathlib import Path

import pytest

from bench.report import QUOTED, as_json, markdown
from bench.results import Figure, Part
from bench.rounds import Spread

ROOT = Path(__file__).parents[2]
PART = Part(
    title="Over HTTP",
    measures="calls per second",
    columns=("", "calls/s"),
    rows=(("async | sync", "12,000"),),
    series={"async | sync": [12000.0]},
    figures=(
        Figure("async ÷ floor", Spread(0.712, 0.7, 0.733), 0.7, aim=0.85, by_processor=0.72),
        Figure("memory", Spread(512.4, 500.0, 520.0), 400, at_least=False, unit="MB"),
    ),
    skipped={"a peer": "does not start: ImportError: gone"},
)
REPORT = """### Promised figures

|  | measured | lowest to highest | by server CPU | bar |  |
| --- | ---: | ---: | ---: | ---: | ---: |
| async ÷ floor | 0.71 | 0.70 to 0.73 | 0.72 | ≥ 0.70 (aim 0.85) | met |
| memory | 512 MB | 500 to 520 |  | ≤ 400 | **missed** |

### Over HTTP

|  | calls/s |
| --- | --- |
| async \\| sync | 12,000 |

### Not measured

|  | reason |
| --- | --- |
| a peer | does not start: ImportError: gone |

### Machine and versions

|  |  |
| --- | --- |
| python | 3.11.7 |
"""


def test_the_report_has_the_figures_the_tables_and_what_is_missing() -> None:
    """In this order; a pipe in a cell does not break its table."""
    assert markdown([PART], {"python": "3.11.7"}) == REPORT


def test_the_report_for_programs_has_every_round() -> None:
    """Beside the summary."""
    report = json.loads(as_json([PART], {"python": "3.11.7"}))

    assert report["machine"] == {"python": "3.11.7"}
    assert report["parts"][0]["series"] == {"async | sync": [12000.0]}
    assert report["parts"][0]["skipped"] == {"a peer": "does not start: ImportError: gone"}


def test_a_quotation_replaces_the_one_before() -> None:
    """And leaves the rest of the document as it is."""
    document = "# Speed\n<!-- recorded by python -m bench --record -->\nold\n<!-- end of the record -->\nMore.\n"

    quoted = QUOTED.quote(document, "new\n")

    assert quoted == (
        "# Speed\n<!-- recorded by python -m bench --record -->\n\nnew\n\n<!-- end of the record -->\nMore.\n"
    )
    assert QUOTED.quote(quoted, "new\n") == quoted


def test_a_document_without_marks_is_refused() -> None:
    """Nothing is written in the wrong place."""
    with pytest.raises(ValueError, match="lacks"):
        QUOTED.quote("# Speed\n", "new\n")


def test_the_documentation_quotes_the_recorded_run() -> None:
    """The report in bench/results stands in docs/performance.md word for word."""
    document = (ROOT / "docs/performance.md").read_text()

    assert QUOTED.quote(document, (ROOT / "bench/results/latest.md").read_text()) == document
