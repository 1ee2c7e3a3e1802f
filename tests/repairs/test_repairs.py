"""A model that reads only the answer to its wrong call mends it at the first try, and no call runs as another."""

import json
import re
from typing import Any

import pytest

from sidecall import ToolMessage
from tests.kit.calls import run
from tests.repairs import last_tools, life_tools, more_tools, work_tools, wrong_tools
from tests.repairs.last_calls import LAST_CALLS
from tests.repairs.life_calls import LIFE_CALLS
from tests.repairs.more_calls import MORE_CALLS
from tests.repairs.repairer import repair
from tests.repairs.work_calls import WORK_CALLS
from tests.repairs.wrong_calls import CALLS, WrongCall

EVERY_TOOL = (
    wrong_tools.TOOLS | more_tools.MORE_TOOLS | life_tools.LIFE_TOOLS | work_tools.WORK_TOOLS | last_tools.LAST_TOOLS
)
EVERY_CALL = CALLS + MORE_CALLS + LIFE_CALLS + WORK_CALLS + LAST_CALLS
_CLASSES = "|".join(
    sorted(
        name
        for module in (wrong_tools, more_tools, life_tools, work_tools, last_tools)
        for name, value in vars(module).items()
        if isinstance(value, type) and value.__module__ == module.__name__
    )
)

# What only Python has, and labels that pydantic puts into its locations.
LEAKS = re.compile(
    r"\b(None|True|False|dict|[Tt]uple|List|frozenset|Literal|Union|Optional|isinstance|datetime\.|class|pydantic"
    rf"|{_CLASSES}|function-|lax-or|is-instance)\b|<class"
)


def _drop(value: Any, path: str) -> None:
    *parents, last = path.split(".")
    for step in parents:
        value = value.get(step) or {}
    value.pop(last, None)


def _read(message: ToolMessage, free: tuple[str, ...]) -> Any:
    got = json.loads(str(message.content))
    for path in free:
        _drop(got, path)
    return got


def _list_faults(message: ToolMessage) -> list[str]:
    """List what is wrong with a refusal: its length, its words, its structure."""
    error = message.response_metadata["error"]
    text = str(message.content)
    told = [text, *(json.dumps([it["loc"], it["msg"], it.get("expected", "")]) for it in error["errors"])]
    faults = [f"leak: {found[0]}" for it in told if (found := LEAKS.search(it)) is not None]
    faults += ["too long"] if len(text) > 400 else []
    pointed = [it for it in error["errors"] if it.keys() & {"allowed", "expected", "suggestion"}]
    faults += ["nothing is pointed out"] if not pointed else []
    return faults


@pytest.mark.parametrize("call", EVERY_CALL, ids=lambda call: call.name)
async def test_a_wrong_call_is_mended_at_the_first_try(call: WrongCall) -> None:
    """By the server, or by a model that does what its answer says."""
    tool = EVERY_TOOL[call.tool]
    wanted = _read(await run(tool, call.meant), call.free)
    message = await run(tool, call.sent)
    if message.status == "error":
        assert _list_faults(message) == []
        error = message.response_metadata["error"]
        mended = repair(call.sent, error, call.meant)
        message = await run(tool, mended)
        assert message.status == "success", (error, mended, message.content)

    assert _read(message, call.free) == wanted


async def test_what_ran_otherwise_than_it_was_sent_is_said() -> None:
    """In `repaired` or in `ignored_args`, unless the types say the same."""
    silent = []
    for call in EVERY_CALL:
        message = await run(EVERY_TOOL[call.tool], call.sent)
        said = message.response_metadata["repaired"] + message.response_metadata["ignored_args"]
        if message.status == "success" and not said:
            silent.append(call.name)

    assert silent == [
        "number as text",
        "null for what has a default",
        "book: flag as text",
        "query: null",
        "go: object for a point",
        "create_contact: owner in snake case",
        "open_ticket: severity as text",
    ]
