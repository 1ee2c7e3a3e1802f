"""Counts that a worker writes are read by others, also when it is gone."""

import multiprocessing
import os
from collections.abc import Iterator
from typing import Any

import pytest

from sidecall.features.telemetry.count_file import CountFile, add_counts


@pytest.fixture
def counts() -> Iterator[CountFile]:
    """An empty file."""
    made = CountFile.create()
    yield made
    made.close()


def test_what_is_written_is_read(counts: CountFile) -> None:
    """By key, as it stands at that moment."""
    calls, waits = counts.block("calls", 2), counts.block("waits é", 1)
    calls[0] += 1
    calls[1] = 2.5
    before = counts.read()
    waits[0] = -1

    assert before == {"calls": [1, 2.5], "waits é": [0]}
    assert counts.read() == {"calls": [1, 2.5], "waits é": [-1]}


@pytest.mark.parametrize("size", [0, 1, 7, 32_000])
@pytest.mark.parametrize("key", ["k", "12345678", "a key of more than eight bytes"])
def test_blocks_of_all_sizes_and_keys_stand_beside_each_other(counts: CountFile, key: str, size: int) -> None:
    """Also where one does not fit into what is left of a piece."""
    names = [f"{key}{number}" for number in range(9)]
    for number, name in enumerate(names):
        block = counts.block(name, size)
        block[:] = memoryview(bytearray(8 * size)).cast("d")
        if size:
            block[size - 1] = number

    read = counts.read()

    assert list(read) == names
    assert [values[-1] for values in read.values() if values] == (list(range(9)) if size else [])
    assert {len(values) for values in read.values()} == {size}


def test_an_empty_file_has_no_counts(counts: CountFile) -> None:
    """As of a worker that has not begun."""
    assert counts.read() == {}


def _count_and_die(counts: CountFile) -> None:
    counts.block("calls", 1)[0] = 41
    os._exit(9)


def test_the_counts_of_a_process_that_was_killed_stay(counts: CountFile) -> None:
    """The file is passed to it when it starts."""
    worker = multiprocessing.get_context("fork").Process(target=_count_and_die, args=(counts,))
    worker.start()
    worker.join(30)

    assert worker.exitcode == 9
    assert counts.read() == {"calls": [41]}


@pytest.mark.parametrize(
    ("total", "more", "expected"),
    [
        ({}, {"a": [1, 2]}, {"a": [1, 2]}),
        ({"a": [1, 2]}, {}, {"a": [1, 2]}),
        ({"a": [1, 2]}, {"a": [3, 4], "b": [5]}, {"a": [4, 6], "b": [5]}),
    ],
)
def test_counts_of_the_same_key_are_added(total: Any, more: Any, expected: Any) -> None:
    """Place by place."""
    add_counts(total, more)

    assert total == expected


def test_counts_that_cannot_belong_together_are_an_error() -> None:
    """A key always has the same number of places."""
    with pytest.raises(ValueError, match="argument 2 is longer"):
        add_counts({"a": [1]}, {"a": [1, 2]})
