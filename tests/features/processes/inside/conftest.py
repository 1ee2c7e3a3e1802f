"""What tests of a tool's process share: the line to the server, and loggers as they were before."""

import logging
import socket
from collections.abc import Iterator

import pytest


@pytest.fixture
def line() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The two ends of what lies between a server and a tool's process."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """Take back what a tool's process does to its loggers."""
    root, names = logging.getLogger(), ("sidecall", "sidecall.tool")
    handlers, levels = [*root.handlers], [logging.getLogger(name).level for name in names]
    yield
    root.handlers[:] = handlers
    _ = [logging.getLogger(name).setLevel(level) for name, level in zip(names, levels, strict=True)]
