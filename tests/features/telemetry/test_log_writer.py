"""Lines are written in their order by a thread, and nobody waits for their reader."""

import os
from collections.abc import Iterator
from queue import SimpleQueue

import pytest

from sidecall.features.telemetry.log_writer import LineWriter

# More than a pipe holds, and than may wait.
FLOOD = 400


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Give the ends of a pipe."""
    read, write = os.pipe()
    yield read, write
    for fd in (read, write):
        try:
            os.close(fd)
        except OSError:
            assert fd == read


def _line(number: int, size: int = 1000) -> bytes:
    return b"%d " % number + b"x" * size + b"\n"


def _read_lines(fd: int, last: bytes) -> list[bytes]:
    read = b""
    while last not in read:
        read += os.read(fd, 65536)
    return read.splitlines()


@pytest.mark.parametrize("is_urgent", [True, False])
def test_lines_keep_their_order(pipe: tuple[int, int], is_urgent: bool) -> None:
    """However many come at once."""
    writer = LineWriter(pipe[1], 1_000_000, print)
    for number in range(1000):
        writer.write(b"%d\n" % number, is_urgent=is_urgent and number % 100 == 0)

    assert writer.flush(60) is True
    assert os.read(pipe[0], 65536) == b"".join(b"%d\n" % number for number in range(1000))
    assert writer.dropped == 0


def test_what_exceeds_the_room_is_dropped_counted_and_told(pipe: tuple[int, int]) -> None:
    """The oldest are kept; the number is told when somebody reads again."""
    told: SimpleQueue[int] = SimpleQueue()
    writer = LineWriter(pipe[1], 100_000, told.put)
    for number in range(FLOOD):
        writer.write(_line(number))
    dropped = writer.dropped
    was_flushed, was_told = writer.flush(0.02), not told.empty()
    first = os.read(pipe[0], 100)
    kept = [first, *_read_lines(pipe[0], b"\n%d " % (FLOOD - dropped - 1))]

    assert 100 < dropped < FLOOD - 90
    assert (was_flushed, was_told) == (False, False)
    assert told.get(timeout=60) == dropped
    assert kept[0].startswith(b"0 ")
    writer.write(b"last\n")
    assert _read_lines(pipe[0], b"last")[-1] == b"last"
    assert (writer.dropped, told.empty()) == (dropped, True)


def test_small_lines_count_with_what_they_take(pipe: tuple[int, int]) -> None:
    """Each is an object, too."""
    writer = LineWriter(pipe[1], 65_536, print)
    writer.write(b"x" * 65_000 + b"\n")
    writer.write(b"x" * 65_000 + b"\n")  # One in the pipe at most, one before it.
    for _ in range(20_000):
        writer.write(b"\n")

    assert writer.dropped > 15_000


def test_lines_for_nobody_are_dropped(pipe: tuple[int, int]) -> None:
    """The process that has read them is gone."""
    told: SimpleQueue[int] = SimpleQueue()
    writer = LineWriter(pipe[1], 100_000, told.put)
    os.close(pipe[0])
    writer.write(b"one\ntwo\n")

    assert writer.flush(60) is True
    writer.write(b"three\n")
    assert writer.flush(60) is True
    assert (writer.dropped, told.empty()) == (3, True)


def test_a_descriptor_that_does_not_block_is_waited_for(pipe: tuple[int, int]) -> None:
    """Another program may share it and have asked for that."""
    os.set_blocking(pipe[1], False)
    writer = LineWriter(pipe[1], 10_000_000, print)
    for number in range(FLOOD):
        writer.write(_line(number))

    lines = _read_lines(pipe[0], b"\n%d x" % (FLOOD - 1))

    assert [int(line.split()[0]) for line in lines] == list(range(FLOOD))
    assert writer.dropped == 0


def test_a_copy_writes_by_itself(pipe: tuple[int, int]) -> None:
    """It has no thread."""
    writer = LineWriter(pipe[1], 0, print)
    writer.write(b"dropped\n")
    writer.become_copy()
    writer.write(b"written\n")

    assert os.read(pipe[0], 65536) == b"written\n"
    assert writer.flush(0) is True
