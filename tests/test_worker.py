"""What a child process does with what it is told, here without the process."""

import asyncio
import logging
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sidecall import BaseTool, BaseToolkit, Tool, tool
from sidecall.core.errors import DiscoveryError, InvalidToolOption
from sidecall.executors.process.channel import Channel, LogToServer
from sidecall.executors.process.crossing import home_of
from sidecall.executors.process.frames import Frames, pack
from sidecall.worker import Finder, Worker, refuse_unfit, serve
from tests.executors.process import process_tools

TOOL = '''from sidecall import tool


@tool(executor="process")
def found() -> int:
    """Answer."""
    return 1
'''


class Kit(BaseToolkit):
    """Offer a method."""

    number: int = 0

    @tool(executor="process")
    def kept(self) -> int:
        """Answer."""
        return self.number


class Written(BaseTool):
    """Offer a class."""

    name: str = "written"
    executor: Any = "process"

    def _run(self) -> None: ...


kit = Kit()
written = Written()
single = Tool("single", lambda text: text, "Take a text.", executor="process")


@pytest.fixture
def line() -> Iterator[tuple[socket.socket, socket.socket]]:
    """The two ends of what lies between a server and a child."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    """Take back what a child does to its loggers."""
    root, names = logging.getLogger(), ("sidecall", "sidecall.tool")
    handlers, levels = [*root.handlers], [logging.getLogger(name).level for name in names]
    yield
    root.handlers[:] = handlers
    _ = [logging.getLogger(name).setLevel(level) for name, level in zip(names, levels, strict=True)]


def greeting(*homes: Any) -> dict[str, Any]:
    """Say what a new child is told."""
    known = {"places": [], "use_entry_points": False, "homes": homes}
    return {**known, "levels": {"sidecall.tool": 10}, "traces": False}


def asked(tool_name: str, **args: Any) -> dict[str, Any]:
    """Say what a child is asked."""
    home = home_of(getattr(process_tools, tool_name).compiled)
    caller = {"subject": "agent", "tenant": "acme", "scopes": ["a"]}
    ids = {"call_id": "call_1", "invocation_id": "inv_1"}
    rest = {"state": None, "context": {}, "headers": {}, "secrets": {}, "memory_limit_mb": 512, "remaining": 5.0}
    return {"home": home, "args": args, "caller": caller, "is_heard": False, **ids, **rest}


def read(sock: socket.socket) -> list[Any]:
    """Read all messages up to the end."""
    frames = Frames()
    return [message for piece in iter(lambda: sock.recv(65536), b"") for message in frames.feed(piece)]


def test_a_child_serves_until_the_server_wants_no_more(line: tuple[socket.socket, socket.socket]) -> None:
    """It says what came of each call."""
    ours, theirs = line
    home = home_of(process_tools.returning.compiled)
    ours.sendall(pack("greet", None, greeting(home)) + pack("find", "f", None))
    ours.sendall(pack("call", "inv_1", asked("returning", name="number")))
    ours.shutdown(socket.SHUT_WR)
    serve(theirs)
    theirs.close()

    assert read(ours) == [
        ("answer", "f", {}),
        ("answer", "inv_1", {"content": 3}),
    ]


def test_a_child_whose_server_is_gone_ends_quietly(line: tuple[socket.socket, socket.socket]) -> None:
    """The kill is on its way."""
    ours, theirs = line
    ours.sendall(pack("call", "inv_1", asked("later", number=3)))
    ours.close()

    serve(theirs)


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (asked("later", number=3), {"content": 3}),
        (asked("parts"), {"content": "one two"}),
        (asked("aparts"), {"content": [1, 2]}),
        (asked("with_a_loop"), {"content": 3}),
        (asked("pairing", name="pair"), {"artifact": {"rows": [{"type": "text", "text": "hello"}]}, "content": "text"}),
        (asked("returning", name="models"), {"content": '[{"type": "text", "text": "hello"}]'}),
        (asked("returning", name="numbers"), {"content": [1]}),
        (
            asked("pairing", name="pair_of_list"),
            {
                "failure": "output_error",
                "message": "Error: pairing has response_format='content_and_artifact' and must return a pair"
                " (content, artifact), but returned list.",
            },
        ),
        (
            asked("returning"),
            {
                "failure": "invalid_arguments",
                "errors": [{"loc": ["name"], "type": "missing", "msg": "Field required (string)"}],
            },
        ),
        (
            asked("returning", name="command_with_more"),
            {
                "update": {"messages": [{"content": "b"}]},
                "goto": [],
                "spoken": {"content": ["a"], "artifact": None, "status": "success", "additional_kwargs": {}},
            },
        ),
    ],
    ids=["async", "parts", "aparts", "loop", "pair", "models", "set", "no-pair", "arguments", "command"],
)
def test_a_call_is_answered(line: tuple[socket.socket, socket.socket], call: Any, answer: Any) -> None:
    """With what crosses, or with why it failed."""
    with asyncio.Runner() as runner:
        actual = Worker(Channel(line[1]), runner).call(call)

    assert actual == answer


def test_a_crash_is_answered_with_its_traceback(line: tuple[socket.socket, socket.socket]) -> None:
    """For the server's log."""
    with asyncio.Runner() as runner:
        answer = Worker(Channel(line[1]), runner).call(asked("raising", name="own"))

    assert answer["crash"] == "bad luck"
    assert answer["classes"][-3:] == [["builtins", "Exception"], ["builtins", "BaseException"], ["builtins", "object"]]
    assert "process_tools.py" in answer["traceback"]


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


def test_a_child_says_which_tools_it_has_lost(line: tuple[socket.socket, socket.socket]) -> None:
    """And why."""
    with asyncio.Runner() as runner:
        worker = Worker(Channel(line[1]), runner)
        worker.greet(greeting({"name": "gone", "module": "nowhere", "file": None}))

    assert worker.lost == {
        "gone": "neither the module nowhere nor any of the server's places offers a tool of this name"
    }


@pytest.mark.parametrize("offered", [kit.get_tools()[0], written, single], ids=["toolkit", "class", "wrapped"])
def test_tools_are_found_where_they_are_written(offered: BaseTool) -> None:
    """In the module of their function, or in that of the function that is wrapped."""
    assert Finder().find(home_of(offered.compiled)).name == offered.name


def test_tools_are_found_by_the_file_that_no_module_stands_for_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a new process; it is looked for once."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    file = tmp_path / "lonely.py"
    file.write_text(TOOL)
    home = {"name": "found", "module": "some_alias_of_it", "file": str(file)}
    finder = Finder()
    first = finder.find(home)

    assert first.name == "found"
    assert finder.find(home) is first


def test_tools_are_found_in_the_servers_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When their function stands somewhere else than they do."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "offering.py").write_text(TOOL)
    home = {"name": "found", "module": "sidecall.authoring.foreign.langchain", "file": None}

    assert Finder([str(tmp_path)]).find(home).name == "found"


def test_a_module_that_is_broken_is_named() -> None:
    """Its author has to mend it."""
    with pytest.raises(DiscoveryError, match=r"offers a tool of this name \(.*no_such\.py"):
        Finder().find({"name": "found", "module": "no_such", "file": "no_such.py"})


def test_tools_that_fit_are_let_through() -> None:
    """Tools of other executors are nobody's business here, closures or not."""

    @tool
    def local() -> None:
        """Stand in a function."""

    refuse_unfit([local.compiled, process_tools.later.compiled, written.compiled], Finder())


def test_a_tool_of_the_program_itself_is_refused() -> None:
    """A process has another program."""

    def lost() -> None:
        """Get lost."""

    lost.__module__ = "__main__"
    with pytest.raises(InvalidToolOption) as caught:
        refuse_unfit([tool(executor="process")(lost).compiled], Finder())

    assert caught.value.message.endswith(
        "tool 'lost' cannot have executor='process': it stands in the program itself, which a process cannot load"
        " again; move it to a module."
    )
