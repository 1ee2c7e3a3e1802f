"""Why a call of a built-in tool is not run stands where its program looks."""

import pytest

from sidecall.kernel.core.messages import ToolMessage
from sidecall.rest.native_calls.writing import ITEM_WRITERS
from tests.features.native_tools.rest.built_in import TOOLS, write_computer_call
from tests.kit.clients import MakeClient


async def test_a_user_is_refused_with_the_reason(make_client: MakeClient) -> None:
    """Commands are never run as somebody else."""
    client = await make_client(*TOOLS)
    call: dict[str, object] = {"type": "local_shell_call", "id": "a", "action": {"command": ["ls"], "user": "root"}}
    refused = (await client.post("/tool_calls", json=call)).json()

    assert refused["errors"] == [{
        "loc": ["action", "user"], "type": "value_error",
        "msg": "Commands are run as the user of the shell; leave `user` out",
    }]  # fmt: skip
    call["action"] = {"command": ["ls"], "user": None}
    assert (await client.post("/tool_calls", json=call)).status_code == 200


async def test_a_computer_that_there_is_not_is_told_of_in_the_header(make_client: MakeClient) -> None:
    """With what would be one; the names of all tools help no program."""
    client = await make_client(TOOLS[0])
    answer = await client.post("/tool_calls", json=write_computer_call({"type": "wait"}))

    said = "No tool works a computer here for this caller: a function with @tool(native='computer') would."
    assert answer.headers["Sidecall-Error"] == said


@pytest.mark.parametrize(
    ("kind", "code"),
    [("outcome_unknown", 1), ("cancelled", 1), ("tool_error", 1), ("unknown_tool", 127), ("denied", 126),
     ("expired", 126)],
)  # fmt: skip
def test_the_exit_code_says_whether_a_command_may_have_run(kind: str, code: int) -> None:
    """126 is for those that have not."""
    metadata = {"error": {"kind": kind}}
    message = ToolMessage(content="no", tool_call_id="c1", name="shell", status="error", response_metadata=metadata)
    written = ITEM_WRITERS["openai-responses", "shell_call"](message, {"type": "shell_call", "commands": 1})

    assert written["output"] == [{"stdout": "", "stderr": "no", "outcome": {"type": "exit", "exit_code": code}}]
