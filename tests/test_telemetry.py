"""The operator hears of what needs a person, and of nothing else."""

from typing import Any

import pytest

from app import ToolException, tool


async def _offend(how: str) -> Any:
    @tool(timeout=1000)
    async def offend(number: int) -> Any:
        """Offend."""
        if how == "politely":
            raise ToolException("No.")
        if how == "crash":
            raise ValueError("canary-4711")
        return object()

    args = {"number": "x" if how == "arguments" else 1}
    return await offend.ainvoke({"type": "tool_call", "name": "offend", "args": args, "id": "call_1"})


@pytest.mark.parametrize(
    ("how", "kind", "reason"),
    [
        pytest.param("crash", "execution_error", "ValueError: canary-4711", id="crash"),
        pytest.param("output", "output_error", "has no JSON form", id="output"),
    ],
)
async def test_a_failure_that_needs_a_person_is_one_line_with_its_traceback(
    how: str, kind: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    """With the ids by which it is found."""
    message = await _offend(how)

    assert [record.getMessage() for record in caplog.records if record.name == "sidecall"] == [
        f"tool offend failed: {kind} (call call_1, invocation {message.id})"
    ]
    assert reason in caplog.text


@pytest.mark.parametrize("how", ["politely", "arguments"])
async def test_a_failure_that_the_model_can_repair_is_not_logged(how: str, caplog: pytest.LogCaptureFixture) -> None:
    """It would bury the others."""
    message = await _offend(how)

    assert message.status == "error"
    assert [record for record in caplog.records if record.name == "sidecall"] == []
