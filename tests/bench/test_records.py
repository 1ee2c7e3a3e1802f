"""Records are kept one by one, and what they say is quoted in the documentation."""

from pathlib import Path

import pytest

from bench import pages, records
from bench.parts import PARTS
from bench.quotation import quote
from bench.records import Record
from bench.report import write_block
from bench.results import Bar, Figure, Part
from bench.rounds import Spread

FIGURE = Figure("a ÷ b", Spread(0.8, 0.7, 0.9), 0.7)
PART = Part("Table", "calls", ("", "calls"), (("a", "8"),), {"a": [8.0, 9.0]}, (FIGURE,), {"b": "no answer"})
MACHINE = {"processor": "Any", "python": "3.11.7"}
PROMISES = {"doors": [Bar("a ÷ b", "a", "b", 0.7)], "scale": [Bar("c ÷ d", "c", "d", 1)]}
DOCUMENT = """# Speed
<!-- recorded: doors, scale -->
old
<!-- end of the record -->
Between.
<!-- recorded: scale -->
older
<!-- end of the record -->
"""


def _record(name: str, median: float = 0.8) -> Record:
    figure = Figure("a ÷ b", Spread(median, 0.7, 0.9), 0.7)
    return Record(name, "2026-11-28T20:05+00:00", 2, 7, 61.2, MACHINE, (figure,), (PART, PART))


def test_a_part_that_is_recorded_again_leaves_the_others(tmp_path: Path) -> None:
    """All rounds of all runs are there when it is read."""
    for record in (_record("doors"), _record("scale"), _record("doors", 0.9)):
        records.write(tmp_path, record)

    assert records.read_all(tmp_path) == {"doors": _record("doors", 0.9), "scale": _record("scale")}


def test_what_one_of_several_runs_has_measured_is_not_missing() -> None:
    """Only what none has, with its reason."""
    found = Part("Table", "calls", ("", "calls"), (), {"b": [1.0]})

    assert _record("doors").skipped == {"b": "no answer"}
    assert Record("doors", "", 2, 7, 1.0, MACHINE, (), (PART, found)).skipped == {}


def test_a_quotation_replaces_the_one_before() -> None:
    """And leaves the rest of the document as it is, also what stands where nothing is recorded."""
    known = {"doors": _record("doors")}
    block = write_block(PROMISES, known)

    quoted = quote(DOCUMENT, PROMISES, known)

    assert quoted == DOCUMENT.replace("old\n", f"\n{block}\n", 1)
    assert quote(quoted, PROMISES, known) == quoted


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("# Speed\n", "lacks marks"),
        ("<!-- recorded: doors -->\nno end\n", "lacks marks"),
        ("<!-- recorded: windows -->\n\n<!-- end of the record -->\n", "no such part: windows"),
    ],
)
def test_a_document_with_other_marks_is_refused(document: str, reason: str) -> None:
    """Nothing is written in the wrong place."""
    with pytest.raises(ValueError, match=reason):
        quote(document, PROMISES, {"doors": _record("doors")})


KNOWN = records.read_all(pages.RESULTS)


@pytest.mark.parametrize("path", pages.DOCUMENTS, ids=lambda path: path.name)
def test_the_documentation_says_what_is_recorded(path: Path) -> None:
    """The tables stand there as they are written from bench/results/parts."""
    assert pages.quote_all(KNOWN)[path] == path.read_text()


def test_pages_say_what_is_recorded(tmp_path: Path) -> None:
    """They and the chart are as they are written from bench/results/parts."""
    pages.write_pages(tmp_path, KNOWN)

    for path in tmp_path.iterdir():
        assert (pages.RESULTS / path.name).read_text() == path.read_text()


def test_records_are_of_parts_that_there_are() -> None:
    """None is left of a part that has gone."""
    assert KNOWN.keys() <= PARTS.keys()
