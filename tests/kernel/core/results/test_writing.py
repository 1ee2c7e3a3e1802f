"""Large answers are written in pieces, messages too, so that others have their turn between them."""

import sys
from types import FrameType
from typing import Any

import pytest
from pydantic_core import to_json

from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.result_memory import ResultMemory, _write

# Functions of libraries that write a value.
_WRITERS = ("encode", "dumps")
ROWS = [{"number": number, "text": f"value {number} é", "none": None} for number in range(20_000)]


def _message(artifact: Any) -> ToolMessage:
    return ToolMessage(content="rows", artifact=artifact, tool_call_id="call_1", name="rows", id="1")


ANSWERS = {
    "a message": _message(ROWS),
    "messages": [_message(ROWS), _message(None), {"role": "tool", "content": "x"}],
    "an object": {"content": ROWS},
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
async def test_an_answer_in_pieces_is_the_answer_at_once(answer: Any) -> None:
    """To the byte."""
    assert await ResultMemory(1_000_000_000).write(answer) == to_json(answer)


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_no_step_writes_all_of_it(answer: Any) -> None:
    """Each holds up all other threads."""
    steps = 0

    def note(_frame: FrameType, event: str, function: Any) -> None:
        nonlocal steps
        steps += event == "c_call" and (function is to_json or getattr(function, "__name__", "") in _WRITERS)

    sys.setprofile(note)
    try:
        _write(answer)
    finally:
        sys.setprofile(None)

    assert steps > 8
