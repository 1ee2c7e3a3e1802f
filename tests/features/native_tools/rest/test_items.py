"""The call of a built-in tool is posted as the model emits it, and answered with the item that its provider takes."""

import json
from typing import Any

import pytest
from openai.types.responses.response_input_item_param import (
    ComputerCallOutput,
    LocalShellCallOutput,
    McpApprovalResponse,
)
from pydantic import TypeAdapter

from tests.features.native_tools.rest.built_in import (
    CHECK,
    IMAGE_URL,
    RAN,
    TOOLS,
    write_computer_call,
    write_patch_call,
    write_shell_call,
    write_tool_use,
)
from tests.features.native_tools.rest.openai_rows import BLANK, EXIT, OPENAI
from tests.features.native_tools.rest.other_rows import OTHERS
from tests.kit.clients import MakeClient

ROWS = OPENAI | OTHERS


def check_type(answer: dict[str, Any], kind: Any) -> None:
    """Hold an answer to the type of its provider's library, and to nothing beside it."""
    if kind is None:  # Google's library is tried in an environment of its own.
        return
    TypeAdapter(kind).validate_python(answer)
    beside = {"call_id"} if kind is LocalShellCallOutput else set()
    assert answer.keys() <= kind.__annotations__.keys() | beside


@pytest.mark.parametrize("row", ROWS)
async def test_an_item_is_answered_with_its_own(make_client: MakeClient, row: str) -> None:
    """As the provider's library has it, and with what has to go back."""
    call, kind, expected = ROWS[row]
    client = await make_client(*TOOLS)
    answer = (await client.post("/tool_calls", json=call)).json()
    assert answer == expected
    check_type(answer, kind)


async def test_a_batch_answers_each_in_its_form(make_client: MakeClient) -> None:
    """However they are mixed."""
    client = await make_client(*TOOLS)
    answers = (await client.post("/tool_calls/batch", json=[call for call, _, _ in ROWS.values()])).json()
    assert dict(zip(ROWS, answers, strict=True)) == {row: expected for row, (_, _, expected) in ROWS.items()}


async def test_events_end_with_the_item(make_client: MakeClient) -> None:
    """In the form of the call."""
    client = await make_client(*TOOLS)
    call, _, expected = ROWS["shell"]
    told = (await client.post("/tool_calls", json=call, headers={"Accept": "text/event-stream"})).text
    (data,) = [line.removeprefix("data: ") for line in told.splitlines() if line.startswith("data: ")]
    assert json.loads(data) == expected


@pytest.mark.parametrize(
    ("call", "status", "said"),
    [
        (write_shell_call("boom"), 200, None),
        (write_computer_call({"type": "fail"}), 200, "the screen is off really"),
        (write_computer_call({"type": "miss"}), 200, "No such button."),
        (write_computer_call({"type": "wait"}), 200, None),
    ],
)
async def test_what_an_item_has_no_place_for_stands_in_a_header(
    make_client: MakeClient, call: dict[str, Any], status: int, said: str | None
) -> None:
    """Such as why there is no screenshot."""
    client = await make_client(*TOOLS)
    answer = await client.post("/tool_calls", json=call)
    assert (answer.status_code, answer.headers.get("Sidecall-Error")) == (status, said)


async def test_a_crash_says_nothing_of_its_reason(make_client: MakeClient) -> None:
    """As in every other form."""
    client = await make_client(*TOOLS)
    answer = (await client.post("/tool_calls", json=write_shell_call("crash", "b"))).json()
    assert [output["outcome"] for output in answer["output"]] == [EXIT, EXIT]
    answer = (await client.post("/tool_calls", json=write_shell_call("crash"))).json()
    (output,) = answer["output"]
    assert output["outcome"] == {"type": "exit", "exit_code": 1}
    assert "secret" not in output["stderr"]


@pytest.mark.parametrize(
    ("call", "key", "said"),
    [
        (write_shell_call(), "output", "commands"),
        (write_patch_call("a.txt"), "output", "apply_patch (built-in) is not a valid tool"),
        (write_tool_use("key", toolset_name="desktop", text="a"), "content", "desktop.key is not a valid tool"),
        (
            write_tool_use("kez", toolset_name="browser", text="a"),
            "content",
            "Error: browser.kez is not a valid tool, try one of [browser.key]. Did you mean browser.key?",
        ),
        (write_tool_use("bash", command="ls"), "content", "bash is not a valid tool"),
        ({"type": "custom_tool_call", "call_id": "c1", "name": "nope", "input": "a"}, "output", "nope is not a valid"),
    ],
)
async def test_what_cannot_be_run_is_answered_in_the_form(
    make_client: MakeClient, call: dict[str, Any], key: str, said: str
) -> None:
    """So that the model can go on; an ordinary tool of that name is another one."""
    client = await make_client(TOOLS[0], TOOLS[6], TOOLS[9])
    answer = await client.post("/tool_calls", json=call)
    assert answer.status_code == 200
    assert said in json.dumps(answer.json()[key])


async def test_arguments_that_do_not_fit_are_said_in_the_form(make_client: MakeClient) -> None:
    """A shell has no place for a failure: its exit code is that of a command that may not run."""
    client = await make_client(*TOOLS)
    answer = (await client.post("/tool_calls", json=write_shell_call("a", timeout_ms=-1))).json()
    (output,) = answer["output"]
    assert output["outcome"] == {"type": "exit", "exit_code": 126}
    assert "timeout_ms" in output["stderr"]


PROVIDERS = [
    *({"type": kind, "id": "x"} for kind in (
        "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
        "mcp_list_tools", "program", "program_output", "server_tool_use", "mcp_tool_use", "google_search_call",
        "code_execution_call", "url_context_call", "mcp_server_tool_call",
    )),
    {"type": "server_tool_use", "id": "x", "name": "shell", "input": {"commands": ["ls"]}},
    {"executableCode": {"language": "PYTHON", "code": "1"}},
    {"type": "tool_search_call", "call_id": "c1", "execution": "server", "arguments": {}},
    {**write_shell_call("ls"), "environment": {"type": "container_reference", "container_id": "c"}},
]  # fmt: skip


@pytest.mark.parametrize("call", PROVIDERS, ids=lambda call: str(call.get("type")))
async def test_what_the_provider_runs_is_refused(make_client: MakeClient, call: dict[str, Any]) -> None:
    """With the reason, and never run."""
    RAN.clear()
    client = await make_client(*TOOLS)
    answer = await client.post("/tool_calls", json=call)
    assert answer.status_code == 422
    assert "executed" in answer.json()["detail"]
    assert RAN == []


@pytest.mark.parametrize(
    "call",
    [
        {"type": "sheet_call", "call_id": "c1", "input": "a"},
        {"type": "shell_call", "call_id": "c1", "action": {"commands": "ls"}},
        {"type": "apply_patch_call", "call_id": "c1", "operation": {"type": "move_file", "path": "a"}},
        {"type": "local_shell_call", "id": "a", "action": {"command": ["ls"], "user": "root"}},
        {"type": "custom", "id": "a", "custom": {"name": "add"}},
        {"type": ["shell_call"]},
    ],
)
async def test_what_is_no_call_is_refused(make_client: MakeClient, call: dict[str, Any]) -> None:
    """An unknown type, or a known one without what belongs to it."""
    client = await make_client(*TOOLS)
    assert (await client.post("/tool_calls", json=call)).status_code == 422


async def test_another_form_can_be_asked_for(make_client: MakeClient) -> None:
    """Where the answer is a text that any model reads."""
    client = await make_client(*TOOLS)
    call = write_shell_call("ls", "sleep")
    chat = (await client.post("/tool_calls?format=openai", json=call)).json()
    text = "--- command 1 of 2 ---\nls\n--- command 2 of 2 ---\n[timed out]"
    assert chat == {"role": "tool", "tool_call_id": "c1", "content": text}
    message = (await client.post("/tool_calls?format=langchain", json=call)).json()
    assert message["additional_kwargs"]["item"] == {"type": "shell_call", "commands": 2}
    plain = {"name": "shell", "args": {"commands": ["ls"]}, "id": "c1"}
    assert (await client.post("/tool_calls", json=plain)).json()["additional_kwargs"] == {}


async def test_other_models_call_a_member_by_its_whole_name(make_client: MakeClient) -> None:
    """And a tool that implements a built-in one by either name."""
    client = await make_client(*TOOLS)
    calls = [
        {"name": "browser_key", "args": {"text": "a"}, "id": "1"},
        {"name": "run_bash", "args": {"command": "a"}, "id": "2"},
        {"name": "bash", "args": {"command": "a"}, "id": "3"},
    ]
    answers = (await client.post("/tool_calls/batch", json=calls)).json()
    assert [answer["status"] for answer in answers] == ["success"] * 3


async def test_checks_wait_for_a_person(make_client: MakeClient) -> None:
    """Whose approval acknowledges them."""
    RAN.clear()
    client = await make_client(*TOOLS)
    call = write_computer_call({"type": "wait"}, pending_safety_checks=[CHECK])
    waiting = await client.post("/tool_calls", json=call)
    assert (waiting.status_code, RAN) == (202, [])
    approval = waiting.json()
    assert approval["description"] == "The model's provider wants this to be looked at: Looks strange."
    url = f"/approvals/{approval['id']}?format=openai-responses"
    always = await client.post(url, json={"decision": "approve", "always": True})
    assert always.status_code == 422
    decided = (await client.post(url, json={"decision": "approve"})).json()["message"]
    assert decided["acknowledged_safety_checks"] == [CHECK]
    assert decided["output"]["image_url"] == IMAGE_URL
    TypeAdapter(ComputerCallOutput).validate_python(decided)
    assert (await client.get(url)).json()["message"] == decided
    assert (await client.post("/tool_calls", json=call)).json() == decided


async def test_checks_that_are_not_acknowledged_are_not_echoed(make_client: MakeClient) -> None:
    """A person has said no."""
    client = await make_client(*TOOLS)
    call = write_computer_call({"type": "wait"}, pending_safety_checks=[CHECK])
    approval = (await client.post("/tool_calls", json=call)).json()
    url = f"/approvals/{approval['id']}?format=openai-responses"
    decided = (await client.post(url, json={"decision": "reject", "reason": "No."})).json()["message"]
    assert (decided["status"], decided["output"]["image_url"]) == ("incomplete", BLANK)
    assert "acknowledged_safety_checks" not in decided


async def test_geminis_checks_wait_for_a_person_too(make_client: MakeClient) -> None:
    """The answer says that they are acknowledged."""
    client = await make_client(*TOOLS)
    decision = {"decision": "require_confirmation", "explanation": "Accepts cookies."}
    args = {"x": 3, "y": 4, "safety_decision": decision}
    approval = await client.post("/tool_calls", json={"functionCall": {"id": "g1", "name": "click_at", "args": args}})
    url = f"/approvals/{approval.json()['id']}?format=gemini"
    answer = (await client.post(url, json={"decision": "approve"})).json()["message"]["functionResponse"]
    assert answer["response"]["safety_acknowledgement"] == "true"
    args["safety_decision"] = {"decision": "regular"}
    step = {"type": "function_call", "id": "g2", "name": "click_at", "arguments": args}
    answer = (await client.post("/tool_calls", json=step)).json()
    text = {"output": "The page is https://example.com/3/4", "url": "https://example.com/3/4"}
    assert json.loads(answer["result"][0]["text"]) == text


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        ({"decision": "approve"}, {"approve": True}),
        ({"decision": "reject", "reason": "Not that one."}, {"approve": False}),
    ],
)
async def test_a_question_of_the_provider_is_decided(
    make_client: MakeClient, decision: dict[str, Any], expected: dict[str, Any]
) -> None:
    """And nothing is run: `echo` here is another tool."""
    client = await make_client(*TOOLS)
    question = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "echo", "arguments": '{"text": "a"}',
                "server_label": "crm"}  # fmt: skip
    waiting = await client.post("/tool_calls", json=question)
    assert waiting.status_code == 202
    asked = waiting.json()["tool_call"]
    assert asked["args"] == {"server_label": "crm", "name": "echo", "arguments": {"text": "a"}}
    url = f"/approvals/{waiting.json()['id']}?format=openai-responses"
    assert (await client.post(url, json={**decision, "always": True})).status_code == 422
    answer = (await client.post(url, json=decision)).json()["message"]
    TypeAdapter(McpApprovalResponse).validate_python(answer)
    reason = answer.pop("reason", "")
    assert answer == {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", **expected}
    assert ("Not that one." in reason) == ("reason" in decision)
