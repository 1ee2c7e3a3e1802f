"""What the trials found, as people read it."""

from collections.abc import Iterator

import pytest

from trials.__main__ import findings_of, verdict
from trials.finding import Finding
from trials.report import markdown, renew

MET = Finding("B1", "500 clients\n| at once", "none lost", "0 lost", holds=True)
LATE = Finding("B2", "their 503s", "p99 < 20 ms", "31 ms", holds=True, in_time=False)
MISSED = Finding("B2", "their 503s", "none reset", "3 reset", holds=False)
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
    groups = {"overload": [MET, LATE], "soak": []}

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
        pytest.param([MET, LATE], 1, id="one is late"),
        pytest.param([], 1, id="nothing was tried"),
    ],
)
def test_the_exit_code_says_whether_everything_holds(findings: list[Finding], expected: int) -> None:
    """For a build that should fail."""
    assert verdict(findings) == expected


def test_a_group_that_breaks_off_is_a_finding() -> None:
    """What it had found by then stays; the other groups run all the same."""

    def trial() -> Iterator[Finding]:
        yield MET
        raise RuntimeError("no server")

    assert list(findings_of("overload", [trial, trial])) == [
        MET,
        Finding(
            "overload",
            "all trials of the group",
            "run to their ends",
            "broke off: RuntimeError: no server",
            holds=False,
        ),
    ]


def test_groups_that_were_run_take_the_place_of_what_was_recorded_of_them() -> None:
    """The others stay, in the order of all, and on the machine that they ran on; lists from another one say so."""
    recorded = "### Overload\n\n- old\n\n### Soak\n\n- kept\n\nA machine.\n"
    order = ["overload", "hostile", "soak"]
    other = "\nThese on another machine: Another.\n"

    renewed = renew(recorded, "### Hostile\n\n- new\n\nAnother.\n", order)
    again = renew(renewed, "### Hostile\n\n- newer\n\nA machine.\n", order)

    assert renewed == f"### Overload\n\n- old\n\n### Hostile\n\n- new\n{other}\n### Soak\n\n- kept\n\nA machine.\n"
    assert again == "### Overload\n\n- old\n\n### Hostile\n\n- newer\n\n### Soak\n\n- kept\n\nA machine.\n"
    assert renew("### Soak\n\n- old\n\nA machine.\n", "### Soak\n\n- new\n\nAnother.\n", order) == (
        "### Soak\n\n- new\n\nAnother.\n"
    )
