"""The server's end of a process: read on the event loop of the call, and on no other."""

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextvars import ContextVar

import pytest
import uvloop

from sidecall.features.processes.child import Child, Frames, ProcessDied, pack

MakeLoop = Callable[[], asyncio.AbstractEventLoop]
_NOTED: ContextVar[object] = ContextVar("noted")


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def make_loop(request: pytest.FixtureRequest) -> MakeLoop:
    """The loops that programs use."""
    made: MakeLoop = request.param
    return made


@pytest.fixture
def pair() -> Iterator[tuple[Child, socket.socket]]:
    """The server's end, and that of a process."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    with theirs, ours:
        yield Child(1, ours, 0), theirs


async def _ignore(_kind: str, _said: object) -> None:
    """Ignore what is said beside the answer."""


def _echo(sock: socket.socket) -> None:
    frames = Frames()
    while piece := sock.recv(65_536):
        for _, subject, content in frames.feed(piece):
            sock.sendall(pack("answer", subject, content))


def test_calls_come_from_any_loop(make_loop: MakeLoop, pair: tuple[Child, socket.socket]) -> None:
    """From one that lives on beside the next, and after one that is closed; no descriptor stays open."""
    child, theirs = pair
    threading.Thread(target=_echo, args=(theirs,), daemon=True).start()
    with asyncio.Runner(loop_factory=make_loop) as first:
        first.run(asyncio.sleep(0))
        with asyncio.Runner(loop_factory=make_loop) as second:
            runners = (first, second, first, second)
            answers = [
                runner.run(child.ask(pack("call", str(number), number), str(number), _ignore))
                for number, runner in enumerate(runners)
            ]
        answers.append(first.run(child.ask(pack("call", "x", "again"), "x", _ignore)))

        async def close() -> None:
            child.close()
            await asyncio.sleep(0.01)

        before = len(os.listdir("/proc/self/fd"))
        first.run(close())
        after = len(os.listdir("/proc/self/fd"))

    assert answers == [0, 1, 2, 3, "again"]
    assert before - after == 1


def test_what_nobody_waits_for_is_not_read(make_loop: MakeLoop, pair: tuple[Child, socket.socket]) -> None:
    """A process that goes on sending is held up, and serves the next call with what it has sent before the answer."""
    child, theirs = pair
    line = pack("log", "tests.of.a.flood", [10, "x" * 10_000, {}])

    async def flood() -> int:
        sent = 0
        theirs.setblocking(False)
        theirs.sendall(pack("answer", "1", None))
        await child.ask(pack("call", "1", None), "1", _ignore)
        for _ in range(50):
            try:
                sent += theirs.send(line * 20)
            except BlockingIOError:
                await asyncio.sleep(0.001)
        return sent

    with asyncio.Runner(loop_factory=make_loop) as runner:
        sent = runner.run(flood())

    assert 0 < sent < 2_000_000


def test_nothing_of_the_first_call_is_kept_for_the_others(
    make_loop: MakeLoop, pair: tuple[Child, socket.socket]
) -> None:
    """What its context held can go with it."""
    child, theirs = pair
    gone = threading.Event()

    class Held:
        def __del__(self) -> None:
            gone.set()

    async def call() -> None:
        _NOTED.set(Held())
        theirs.sendall(pack("answer", "1", "done"))
        await child.ask(pack("call", "1", None), "1", _ignore)

    async def run() -> bool:
        await asyncio.ensure_future(call())
        await asyncio.sleep(0.01)
        return gone.is_set()

    with asyncio.Runner(loop_factory=make_loop) as runner:
        assert runner.run(run())


# The beginning of a message of 8 GB.
_NO_MESSAGE = b"\xff" * 16


def test_what_is_no_message_ends_the_call(make_loop: MakeLoop, pair: tuple[Child, socket.socket]) -> None:
    """At once, rather than at its deadline, and without memory for it."""
    child, theirs = pair
    theirs.sendall(pack("log", "x", [10, "first", {}]) + _NO_MESSAGE)
    with asyncio.Runner(loop_factory=make_loop) as runner, pytest.raises(ProcessDied) as caught:
        runner.run(child.ask(pack("call", "1", None), "1", _ignore))

    assert str(caught.value) == "the tool's process sent what is no message"
    assert caught.value.has_begun
    assert child.has_ended()


def test_what_is_no_message_is_found_before_the_next_call(
    make_loop: MakeLoop, pair: tuple[Child, socket.socket]
) -> None:
    """Of what comes while there is none; messages are kept for the next one."""
    child, theirs = pair

    async def wait() -> list[bool]:
        theirs.sendall(pack("answer", "1", None))
        await child.ask(pack("call", "1", None), "1", _ignore)
        found = []
        for sent in (pack("log", "x", [10, "between", {}]), pack("answer", "2", "early"), _NO_MESSAGE):
            theirs.sendall(sent)
            for _ in range(5):  # Between which the loop looks at its sockets.
                await asyncio.sleep(0.001)
            found.append(child.has_ended())
        return found

    with asyncio.Runner(loop_factory=make_loop) as runner:
        assert runner.run(wait()) == [False, False, True]
