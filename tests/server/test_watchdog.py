"""Who watches the event loop says what blocks it, and ends a process that does not end."""

import logging
import threading
from collections.abc import Iterator
from queue import Queue

import pytest

from sidecall.server.watchdog import Watchdog

PATIENCE = 20


@pytest.fixture
def lines() -> Iterator["Queue[logging.LogRecord]"]:
    """Collect what is logged, for a test that waits for it in another thread."""
    found: Queue[logging.LogRecord] = Queue()
    collector = logging.Handler()
    collector.emit = found.put  # type: ignore[method-assign]
    logger = logging.getLogger("sidecall")
    logger.addHandler(collector)
    yield found
    logger.removeHandler(collector)


def freeze(lines: "Queue[logging.LogRecord]") -> logging.LogRecord:
    """Do nothing until something is logged."""
    return lines.get(timeout=PATIENCE)


def test_what_blocks_is_logged_with_its_stack(lines: "Queue[logging.LogRecord]") -> None:
    """The traceback ends where the loop is stuck."""
    ended: Queue[int] = Queue()
    watchdog = Watchdog(0.1, end=ended.put)
    watchdog.start()

    watchdog.beat()
    stuck = freeze(lines)
    watchdog.beat()
    again = lines.get(timeout=PATIENCE)
    watchdog.end_within(0, code=0)
    ended.get(timeout=PATIENCE)

    assert stuck.levelname == "ERROR"
    assert stuck.getMessage() == "the event loop has been stuck for 0.1 s, and nobody is answered meanwhile"
    assert "in freeze\n    return lines.get(timeout=PATIENCE)" in logging.Formatter().formatException(stuck.exc_info)
    assert again.getMessage().startswith("the event loop goes on, after 0.")


def test_a_loop_that_rests_is_not_stuck(lines: "Queue[logging.LogRecord]") -> None:
    """Neither before the first beat nor after the last."""
    ended: Queue[int] = Queue()
    watchdog = Watchdog(0.01, end=ended.put)
    watchdog.start()

    watchdog.beat()
    watchdog.rest()
    watchdog.end_within(0.2, code=0)
    ended.get(timeout=PATIENCE)

    assert [line.levelname for line in lines.queue] == ["WARNING"]


@pytest.mark.parametrize(("code", "level"), [(0, "WARNING"), (1, "ERROR")])
def test_a_process_that_does_not_end_is_ended(lines: "Queue[logging.LogRecord]", code: int, level: str) -> None:
    """With the code it would have had, and the names of the threads that still run."""
    ended: Queue[int] = Queue()
    never = threading.Event()
    hanging = threading.Thread(target=never.wait, name="hanging")
    hanging.start()
    watchdog = Watchdog(2, end=ended.put)
    watchdog.start()

    watchdog.end_within(0, code)
    given = ended.get(timeout=PATIENCE)
    never.set()
    hanging.join()
    line = lines.get(timeout=PATIENCE)

    assert given == code
    assert line.levelname == level
    assert line.getMessage().startswith("the process does not end by itself and is ended; still running: MainThread")
    assert "hanging" in line.getMessage()


def test_the_time_in_which_a_loop_stands_still_is_noted(lines: "Queue[logging.LogRecord]") -> None:
    """All of it once it is half a second, and nothing of what is shorter."""
    ended: Queue[int] = Queue()
    noted: Queue[float] = Queue()
    watchdog = Watchdog(2.0, end=ended.put, note=noted.put)
    watchdog.start()

    watchdog.beat()
    first = [noted.get(timeout=PATIENCE) for _ in range(3)]
    watchdog.end_within(0, code=0)
    ended.get(timeout=PATIENCE)

    assert first == [0.5, 0.25, 0.25]
    assert lines.empty() or "stuck" not in lines.get().getMessage()
