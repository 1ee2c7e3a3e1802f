"""What a tool logs goes to the server."""

import logging
import socket

from sidecall.features.processes.inside.tool_process import Channel, LogToServer
from tests.features.processes.inside.messages import read


def test_what_is_logged_goes_to_the_server(line: tuple[socket.socket, socket.socket]) -> None:
    """With its traceback, at its level, and never as an error of the tool."""
    ours, theirs = line
    logger = logging.getLogger("tests.of.the.log")
    handler = LogToServer(Channel(theirs))
    logger.addHandler(handler)
    try:
        raise ValueError("bad luck")
    except ValueError:
        logger.exception("it %s", "failed", extra={"rows": {1}})
    logger.removeHandler(handler)
    theirs.close()
    kind, name, (level, text, named) = read(ours)[0]

    assert (kind, name, level, named) == ("log", "tests.of.the.log", logging.ERROR, {"rows": [1]})
    assert text.startswith("it failed\nTraceback")
    assert text.endswith("ValueError: bad luck")


def test_of_a_line_without_end_head_and_tail_go_to_the_server(line: tuple[socket.socket, socket.socket]) -> None:
    """It is for the log alone, and the server has to read it."""
    ours, theirs = line
    text = "x" * 40_000 + "y" * 40_000
    LogToServer(Channel(theirs)).emit(logging.makeLogRecord({"msg": text}))
    theirs.close()
    said = read(ours)[0].content[1]

    assert said == "x" * 32_768 + "\n[… 14464 characters left out …]\n" + "y" * 32_768
