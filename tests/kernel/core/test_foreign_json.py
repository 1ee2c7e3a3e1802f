"""JSON of other servers is parsed where it holds nobody up."""

import asyncio
import threading

import pytest
from pydantic_core import from_json

from sidecall.kernel.json_data.foreign_json import TooManyValues, parse_foreign
from sidecall.kernel.json_data.text import LARGE, MOST_AT_ONCE

SHORT = b"[" + b" " * (LARGE - 2) + b"]"
LONG = b"[" + b" " * LARGE + b"]"


@pytest.mark.parametrize(("text", "is_here"), [(SHORT, True), (LONG, False)], ids=["short", "long"])
async def test_long_json_is_parsed_in_a_thread(text: bytes, *, is_here: bool) -> None:
    """Short JSON at once."""
    threads = []

    def parse(text: bytes) -> object:
        threads.append(threading.current_thread())
        return from_json(text)

    assert await parse_foreign(text, parse) == []
    assert (threads == [threading.current_thread()]) is is_here


@pytest.mark.parametrize("text", [SHORT[:-1] + b"}", LONG[:-1] + b"}"], ids=["short", "long"])
async def test_what_is_no_json_is_refused(text: bytes) -> None:
    """By the parser, in its words."""
    with pytest.raises(ValueError, match="expected") as raised:
        await parse_foreign(text, from_json)

    assert not isinstance(raised.value, TooManyValues)


async def test_as_many_values_are_parsed_as_others_can_be_held_up_for() -> None:
    """A parser lets no other thread run until it is done."""
    most = b"[" + b"1," * (MOST_AT_ONCE - 2) + b"1]"

    assert len(await parse_foreign(most, from_json)) == MOST_AT_ONCE - 1
    with pytest.raises(TooManyValues, match="more than 250,000 values"):
        await parse_foreign(most.replace(b"]", b",1]"), from_json)


async def test_others_go_on_meanwhile() -> None:
    """Until the thread has its turn."""
    parsing = asyncio.ensure_future(parse_foreign(LONG, from_json))
    await asyncio.sleep(0)

    assert not parsing.done()
    assert await parsing == []
