"""Each mend is noted once."""

import json
from typing import Any, Literal

import pytest

from sidecall import tool
from tests.kit.calls import run

TEXTS: dict[str, Any] = {"properties": {"n": {"allOf": [{"type": "integer"}, {"type": "integer", "maximum": 9}]}}}


@tool(args_schema=TEXTS)
def count(n: int = 0) -> int:
    """Count."""
    return n


@tool
def store(max_size: int, mode: Literal["fast", "safe"] = "safe", tags: list[str] = []) -> Any:  # noqa: B006
    """Store."""
    return [max_size, mode, tags]


FENCED = '```json\n{"max_size": %s}\n```'


@pytest.mark.parametrize(
    ("made", "args", "repaired"),
    [
        (count, {"n": "3"}, ["n: text instead of a number"]),  # which two rules refuse
        (
            store,
            {"maxSize": 1, "mode": "Fast"},
            ["max_size: sent under its name in other letters", 'mode: "fast" in other letters'],
        ),
        (store, FENCED % 1, ["arguments: taken out of a Markdown fence"]),
        (store, json.dumps(json.dumps({"max_size": 1})), ["arguments: JSON text inside JSON text"]),
        # nothing runs, so nothing is mended
        (count, {"n": "12"}, []),
        (store, {"maxSize": "many"}, []),
        (store, {"maxSize": 1, "mode": "slow"}, []),
        (store, {"max_size": "many", "tags": '["a"]'}, []),
        (store, {"arguments": {"maxSize": "many"}}, []),
        (store, FENCED % '"many"', []),
        (store, FENCED % "", []),
    ],
)
async def test_each_mend_is_noted_once_and_none_of_a_call_that_is_refused(
    made: Any, args: Any, repaired: list[str]
) -> None:
    """No matter what was read on the way."""
    message = await run(made, args)

    assert message.response_metadata["repaired"] == repaired
    assert (message.status == "success") == bool(repaired)
