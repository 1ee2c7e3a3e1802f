"""Messages arrive whole, however they are torn on the way."""

import asyncio
import math
import socket
from typing import Any

import pytest
from pydantic import BaseModel

from sidecall.features.processes import child
from sidecall.features.processes.child import COST, LARGE, Child, Frames, pack


class Point(BaseModel):
    """A model."""

    x: int = 1


def test_messages_are_put_together_again() -> None:
    """From single bytes, and out of pieces that hold several."""
    sent = pack("a", "1", {"content": "grün", "more": 1}) + pack("b", None, None)
    single, whole = Frames(), Frames()
    read = [("a", "1", {"content": "grün", "more": 1}), ("b", None, None)]

    assert [message for byte in sent for message in single.feed(bytes([byte]))] == read
    assert list(whole.feed(sent + b"\x00\x00")) == read


def test_it_is_known_how_much_is_missing() -> None:
    """So that a reader can stop where a message ends."""
    frames, sent = Frames(), pack("a", None, {"content": "long"})
    missing = [frames.missing]
    list(frames.feed(sent[:8]))
    missing.append(frames.missing)
    list(frames.feed(sent[8:]))
    missing.append(frames.missing)

    assert missing == [8, 31, 8]


def test_a_text_crosses_as_it_is() -> None:
    """Nobody has to read through it."""
    assert b'\n"quoted" gr\xc3\xbcn' in pack("answer", "1", {"content": '\n"quoted" grün'})


@pytest.mark.parametrize("lost", range(1, 24))
def test_what_comes_after_half_a_message_does_not_complete_it(lost: int) -> None:
    """A process may die while it answers, and its end is said on the same socket."""
    torn = pack("answer", "1", {"content": "text"})[:-lost] + pack("end", None, [-9, False])

    with pytest.raises(ValueError):
        list(Frames().feed(torn))


@pytest.mark.parametrize(
    ("content", "read"),
    [
        ("\ud800 grün", "\ud800 grün"),  # the server decides what becomes of half a character
        ({"content": "\ud800 grün"}, {"content": "\ud800 grün"}),
        ({"content": ""}, {"content": ""}),
        ({"content": None}, {"content": None}),
        (math.inf, math.inf),
        ((1, [2]), [1, [2]]),
        ({"point": Point()}, {"point": {"x": 1}}),
    ],
    ids=["surrogate", "surrogate-in-text", "no-text", "nothing", "infinity", "tuple", "model"],
)
def test_what_json_cannot_say_is_said_as_near_as_can_be(content: Any, read: Any) -> None:
    """Callers of this process may inject any object."""
    assert list(Frames().feed(pack("a", "b", content))) == [("a", "b", read)]


@pytest.mark.parametrize("content", [object(), {(1, 2): 3}], ids=["object", "key"])
def test_what_has_no_form_is_an_error(content: Any) -> None:
    """Rather than a text that looks like one."""
    with pytest.raises(ValueError, match=r"JSON|keys"):
        pack("a", "b", content)


def test_a_message_has_its_bound_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """What claims to be longer is no message, and none is made that would be refused."""
    monkeypatch.setattr(child, "MOST", 1000)
    longest = pack("a", None, {"content": "x" * (1000 - len('["a",null,{"content":null}]'))})

    assert len(list(Frames().split(longest))) == 1
    with pytest.raises(ValueError, match="it is no message"):
        list(Frames().split(b"\x00\x00\x03\xe8\x00\x00\x00\x01"))
    with pytest.raises(ValueError, match=r"It takes 1,027 bytes, and 1,000 at most cross between processes\."):
        pack("a", None, {"content": "x" * 1000})


@pytest.mark.anyio
@pytest.mark.parametrize("is_cut", [False, True], ids=["small messages", "behind a large one"])
async def test_what_a_call_has_cost_is_heard_after_it_was_given_up(is_cut: bool) -> None:
    """All that was sent before the end of its process; of other messages none is read."""
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    one = Child(1, ours, 0)
    waiting = asyncio.ensure_future(one.ask(pack("call", "a", {}), "a", _pause_for_ever))
    theirs.sendall(pack("event", "a", ["progress", 1]) + pack("event", "a", [COST, 3]))
    await asyncio.sleep(0.05)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    heard: list[tuple[str, int]] = []

    gone = asyncio.ensure_future(one.wait_until_gone(lambda call, fine: heard.append((call, fine))))
    theirs.sendall(pack("event", "a", ["progress", 2]) + pack("event", "a", [COST, 4]) + pack("log", "x", [10, "", {}]))
    if is_cut:
        theirs.sendall(pack("answer", "a", "x" * LARGE * 2)[: LARGE // 2])
    theirs.close()
    await gone
    ours.close()

    assert heard == [("a", 3), ("a", 4)]


async def _pause_for_ever(_kind: str, _said: object) -> None:
    await asyncio.Event().wait()
