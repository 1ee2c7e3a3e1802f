"""Messages arrive whole, however they are torn on the way."""

import math
from typing import Any

import pytest
from pydantic import BaseModel

from app.executors.frames import Frames, pack


class Point(BaseModel):
    """A model."""

    x: int = 1


def test_messages_are_put_together_again() -> None:
    """From single bytes, and out of pieces that hold several."""
    sent = pack(["a", 1]) + pack({"b": None})
    single, whole = Frames(), Frames()

    assert [message for byte in sent for message in single.feed(bytes([byte]))] == [["a", 1], {"b": None}]
    assert list(whole.feed(sent + b"\x00\x00")) == [["a", 1], {"b": None}]


@pytest.mark.parametrize(
    ("message", "read"),
    [
        ("\ud800 grün", "\ud800 grün"),  # the server decides what becomes of half a character
        (math.inf, math.inf),
        ((1, [2]), [1, [2]]),
        ({"point": Point()}, {"point": {"x": 1}}),
    ],
    ids=["surrogate", "infinity", "tuple", "model"],
)
def test_what_json_cannot_say_is_said_as_near_as_can_be(message: Any, read: Any) -> None:
    """Callers of this process may inject any object."""
    assert list(Frames().feed(pack(message))) == [read]


@pytest.mark.parametrize("message", [object(), {(1, 2): 3}], ids=["object", "key"])
def test_what_has_no_form_is_an_error(message: Any) -> None:
    """Rather than a text that looks like one."""
    with pytest.raises(ValueError, match=r"JSON|keys"):
        pack(message)
