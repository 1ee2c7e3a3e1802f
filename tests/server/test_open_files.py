"""Connections find room under the limit of open files, or an operator reads why not."""

import subprocess
import sys

import pytest

SCRIPT = """
import logging, os, resource, sys

from sidecall.server.request_reader import are_exhausted, room_beyond, room_for

logging.basicConfig(format="%(message)s", stream=sys.stdout)
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
print(room_for({connections}), resource.getrlimit(resource.RLIMIT_NOFILE)[0])
print(room_beyond({connections}))
"""
FULL = """
print(are_exhausted())
try:
    while True:
        os.dup(1)
except OSError:
    print(are_exhausted())
"""


def run(script: str) -> list[str]:
    """Run it in a process of its own, since a limit that was lowered cannot be raised again."""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    return result.stdout.splitlines()


@pytest.mark.parametrize(
    ("soft", "hard", "connections", "printed"),
    [
        pytest.param(512, 4096, 1000, ["1000 1512", "256"], id="raised as far as needed"),
        pytest.param(2048, 4096, 1000, ["1000 2048", "256"], id="enough already"),
        pytest.param(512, 1024, 768, ["768 1024", "16"], id="just enough"),
    ],
)
def test_the_limit_is_raised_where_it_may(soft: int, hard: int, connections: int, printed: list[str]) -> None:
    """As servers do; nobody has to know about `ulimit`."""
    assert run(SCRIPT.format(soft=soft, hard=hard, connections=connections)) == printed


@pytest.mark.parametrize(
    ("hard", "fitting"),
    [
        (1024, 768),
        (300, 142),  # where the reserve would leave next to nothing
    ],
)
def test_fewer_connections_are_taken_where_it_may_not(hard: int, fitting: int) -> None:
    """And the log says what to do about it."""
    assert run(SCRIPT.format(soft=256, hard=hard, connections=1000)) == [
        f"only {fitting} connections fit under the limit of {hard} open files, not SIDECALL_MAX_CONNECTIONS=1000; "
        "raise it (ulimit -n, LimitNOFILE, --ulimit nofile)",
        f"{fitting} {hard}",
        "16",
    ]


def test_it_is_seen_when_no_more_files_can_be_opened() -> None:
    """The event loop says nothing about it."""
    assert run(SCRIPT.format(soft=64, hard=64, connections=1)[:-1] + FULL)[-2:] == ["False", "True"]
