"""What a tool's process does with what it is told, here without the process."""

import socket

from sidecall.features.processes.child import pack
from sidecall.features.processes.finder import Finder
from sidecall.features.processes.inside.main import serve
from sidecall.features.processes.tool_location import home_of
from sidecall.loading.collect import tools_of
from tests.features.processes import process_tools
from tests.features.processes.inside.messages import greeting, read, request_for


def test_a_process_serves_until_the_server_wants_no_more(line: tuple[socket.socket, socket.socket]) -> None:
    """It says what came of each call."""
    ours, theirs = line
    home = home_of(process_tools.returning.compiled)
    ours.sendall(pack("greet", None, greeting(home)) + pack("find", "f", None))
    ours.sendall(pack("call", "inv_1", request_for("returning", name="number")))
    ours.shutdown(socket.SHUT_WR)
    serve(Finder(tools_of), theirs)
    theirs.close()

    assert read(ours) == [
        ("answer", "f", {}),
        ("answer", "inv_1", {"kind": "value", "content": 3}),
    ]


def test_a_process_whose_server_is_gone_ends_quietly(line: tuple[socket.socket, socket.socket]) -> None:
    """The kill is on its way."""
    ours, theirs = line
    ours.sendall(pack("call", "inv_1", request_for("later", number=3)))
    ours.close()

    serve(Finder(tools_of), theirs)
