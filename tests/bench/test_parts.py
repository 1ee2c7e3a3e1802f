"""The parts, and which of them are measured together."""

import pytest

from bench.__main__ import read_options
from bench.parts import PARTS, SETS, choose


@pytest.mark.parametrize(
    ("only", "expected"),
    [
        ("doors", ("doors",)),
        ("events,doors", ("doors", "events")),  # in the order of the table
        ("thresholds", ("overhead", "pipeline", "startup")),
        ("thresholds,startup,fleet", ("overhead", "pipeline", "startup", "fleet")),
    ],
)
def test_parts_are_chosen_by_their_names_and_sets(only: str, expected: tuple[str, ...]) -> None:
    """Each once."""
    assert choose(only) == expected


def test_an_unknown_part_is_refused() -> None:
    """By its name."""
    with pytest.raises(ValueError, match="no such part: door"):
        choose("doors,door")


def test_sets_are_of_parts_that_there_are() -> None:
    """And a whole run has all that the documentation shows."""
    assert {name for parts in SETS.values() for name in parts} <= PARTS.keys()
    assert set(SETS["uses"]) <= set(SETS["all"])


def test_no_promise_has_the_name_of_another_of_its_part() -> None:
    """The documentation finds figures by name."""
    twice = {
        name: names for name, part in PARTS.items() if len(names := [bar.name for bar in part.bars]) != len(set(names))
    }

    assert twice == {}


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--only", "doors"], (1, 15)),
        (["--only", "thresholds"], (1, 12)),
        (["--only", "doors", "--quick"], (1, 2)),
        (["--only", "doors", "--record"], (3, 5)),
        (["--only", "thresholds", "--record"], (3, 5)),
        (["--only", "doors", "--record", "--runs", "1", "--rounds", "9"], (1, 9)),
    ],
)
def test_a_recording_is_of_several_runs(arguments: list[str], expected: tuple[int, int]) -> None:
    """So many runs, of so many rounds each."""
    options = read_options(arguments)

    assert (options.runs, options.rounds) == expected


@pytest.mark.parametrize(
    "arguments", [["--only", "door"], ["--quick", "--record"], ["--runs", "-1"], ["--rounds", "-1"]], ids=" ".join
)
def test_what_makes_no_sense_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is measured."""
    with pytest.raises(SystemExit):
        read_options(arguments)

    assert capsys.readouterr().err.startswith("usage: python -m bench")
