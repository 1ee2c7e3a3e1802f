"""How `bench.walk` counts the way of a call."""

import pytest

from bench.walk import Walk, count_changes, room_of


@pytest.mark.parametrize(
    ("file", "room"),
    [
        ("main.py", ""),
        ("outgoing/rules.py", "outgoing"),
        ("rest/answers.py", "rest"),
        ("kernel/schema/forms/strict.py", "kernel/schema"),
        ("features/approvals/routes.py", "features/approvals"),
    ],
)
def test_a_room_is_a_folder_of_the_package(file: str, room: str) -> None:
    """Of the kernel and of the features each folder is one."""
    assert room_of(file) == room


def test_neighbors_that_differ_are_counted() -> None:
    """Not the names."""
    assert count_changes(["a", "a", "b", "a"]) == 2
    assert count_changes([]) == 0


def test_a_row_counts_files_rooms_calls_and_changes() -> None:
    """In this order."""
    walk = Walk(("http/body.py", "http/fast_path.py", "features/jobs/jobs.py", "http/body.py"))

    assert walk.row() == (3, 2, 4, 3, 2)
