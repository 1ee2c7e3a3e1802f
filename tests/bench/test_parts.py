"""The parts, and which of them are measured together."""

import pytest

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
