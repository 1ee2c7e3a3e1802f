"""What the trials found, as people read it."""

import pytest

from bench.trials.__main__ import findings_of, verdict
from bench.trials.finding import Finding
from bench.trials.report import markdown

MET = Finding("B1", "500 clients\n| at once", "none lost", "0 lost", holds=True)
MISSED = Finding("B2", "their 503s", "p99 < 20 ms", "31 ms", holds=False)
LONG = Finding("S1", "a trial " * 20, "one line", "many words", holds=True)
REPORT = """### Overload

- B1: 500 clients | at once
  - bar: none lost
  - met: 0 lost
- B2: their 503s
  - bar: p99 < 20 ms
  - **missed**: 31 ms

2 cores, Python 3.11.7.
"""


def test_each_group_has_a_list() -> None:
    """A line break in a text does not break its item; a group that found nothing is left out."""
    groups = {"overload": [MET, MISSED], "soak": []}

    assert markdown(groups, {"processor": "2 cores", "python": "Python 3.11.7"}) == REPORT


def test_lines_are_no_longer_than_those_of_other_pages() -> None:
    """The rest of a text stands below its beginning."""
    lines = markdown({"hostile": [LONG]}, {"processor": "2 cores"}).splitlines()

    assert lines[2:5] == [
        f"- S1: {'a trial ' * 14}a",
        f"  {'trial a ' * 5}trial",
        "  - bar: one line",
    ]
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize(
    ("findings", "expected"),
    [
        pytest.param([MET], 0, id="all hold"),
        pytest.param([MET, MISSED], 1, id="one does not"),
        pytest.param([], 1, id="nothing was tried"),
    ],
)
def test_the_exit_code_says_whether_everything_holds(findings: list[Finding], expected: int) -> None:
    """For a build that should fail."""
    assert verdict(findings) == expected


def test_a_group_that_breaks_off_is_a_finding() -> None:
    """The other groups run all the same."""
    said = "broke off: ModuleNotFoundError: No module named 'bench.trials.nothing'"

    assert list(findings_of("nothing")) == [
        Finding("nothing", "all trials of the group", "run to their ends", said, holds=False)
    ]
