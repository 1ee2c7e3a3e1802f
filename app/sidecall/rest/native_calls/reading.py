"""Read calls of native tools, such as `shell_call`."""

import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from sidecall.kernel.core.errors import NotAToolCall
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.native_results import CHECKS, CUT_OFF, STEP
from sidecall.kernel.json_data.text import read_object
from sidecall.rest.native_calls.answer_models import JsonObject, SentCall
from sidecall.rest.native_calls.call_models import (
    ApplyPatchCall,
    ComputerCall,
    CustomToolCall,
    GeminiFunctionCallStep,
    LocalShellCall,
    MCPApprovalRequest,
    OpenAICustomCall,
    ShellCall,
    ToolSearchCall,
)
from sidecall.rest.parsed_call import DialectName, ReceivedCall, choose_call_id, explain_unfit


@dataclass(frozen=True, slots=True)
class _Sent:
    """A call as sent: the tool's name if any, its arguments, its id, and fields to echo."""

    name: str
    args: JsonObject | str
    call_id: str | int | None
    echoed: JsonObject


def read_item_call(body: JsonObject) -> ReceivedCall | None:
    """Read a call of a built-in tool, or of one that takes a text; None for other calls.

    Its tool is resolved later, when the tools are known: the name is the model's.

    Raises:
        NotAToolCall: Its provider runs it, or it does not have the form of its type.
    """
    refuse_executed(body)
    kind = STEP if is_step(body) else body.get("type")
    form = _FORMS.get(kind) if isinstance(kind, str) else None
    if form is None:
        return None
    try:
        sent: Any = form.model.model_validate(body)
    except ValidationError as error:
        raise explain_unfit(str(body["type"]), error, form.example) from None
    said = form.read(sent)
    item = {"type": kind, **{key: value for key, value in said.echoed.items() if value is not None}}
    if sent.is_cut_off:
        item[CUT_OFF] = True
    call = ToolCall(name=said.name, args=said.args, id=choose_call_id(said.call_id), item=item)
    is_async = getattr(sent, "is_async", None) is True
    return ReceivedCall(call, form.dialect, sent.state, sent.context or {}, sent.callback_url, is_async, sent.hash)


def is_step(body: JsonObject) -> bool:
    """Return whether a function call is a step of Gemini's rather than an item of OpenAI's."""
    is_function = body.get("type") == "function_call" and body.get("call_id") is None
    return is_function and isinstance(body.get("id"), str) and isinstance(read_object(body.get("arguments")), dict)


def _read_custom(sent: CustomToolCall) -> _Sent:
    return _Sent(sent.name, sent.input, sent.call_id, {"caller": sent.caller})


def _read_chat_custom(sent: OpenAICustomCall) -> _Sent:
    return _Sent(sent.custom.name, sent.custom.input, sent.id, {})


def _read_shell(sent: ShellCall) -> _Sent:
    args = sent.action.model_dump(exclude_none=True)
    echoed = {"caller": sent.caller, "max_output_length": sent.action.max_output_length}
    return _Sent("shell", args, sent.call_id, {**echoed, "commands": len(sent.action.commands)})


def _read_local_shell(sent: LocalShellCall) -> _Sent:
    action = sent.action
    command = shlex.join(action.command)
    if action.env:
        command = shlex.join(["env", *(f"{name}={value}" for name, value in action.env.items())]) + f" {command}"
    if action.working_directory:
        command = f"cd -- {shlex.quote(action.working_directory)} && {command}"
    args = {"commands": [command], **({} if action.timeout_ms is None else {"timeout_ms": action.timeout_ms})}
    call_id = sent.id if sent.call_id is None else sent.call_id
    return _Sent("shell", args, call_id, {"id": sent.id, "commands": 1})


def _read_patch(sent: ApplyPatchCall) -> _Sent:
    return _Sent("apply_patch", sent.operation.model_dump(exclude_none=True), sent.call_id, {"caller": sent.caller})


def _read_computer(sent: ComputerCall) -> _Sent:
    actions = ([] if sent.action is None else [sent.action]) if sent.actions is None else sent.actions
    return _Sent("computer", {"actions": actions}, sent.call_id, {CHECKS: sent.pending_safety_checks or None})


def _read_search(sent: ToolSearchCall) -> _Sent:
    return _Sent("tool_search", {} if sent.arguments is None else sent.arguments, sent.call_id, {})


def _read_question(sent: MCPApprovalRequest) -> _Sent:
    args = {"server_label": sent.server_label, "name": sent.name, "arguments": sent.arguments}
    return _Sent("mcp_approval", args, sent.id, {})


def _read_step(sent: GeminiFunctionCallStep) -> _Sent:
    return _Sent(sent.name, sent.arguments, sent.id, {})


@dataclass(frozen=True, slots=True)
class _Form:
    model: type[SentCall]
    dialect: DialectName
    read: Callable[[Any], _Sent]
    example: JsonObject


_ID = {"call_id": "call_1"}

ITEM_EXAMPLES: Mapping[str, JsonObject] = {
    "custom": {"id": "call_1", "type": "custom", "custom": {"name": "calculator", "input": "6 * 7"}},
    "custom_tool_call": {"type": "custom_tool_call", **_ID, "name": "calculator", "input": "6 * 7"},
    "shell_call": {"type": "shell_call", **_ID, "action": {"commands": ["ls"], "timeout_ms": 10_000}},
    "local_shell_call": {
        "type": "local_shell_call",
        "id": "lsh_1",
        **_ID,
        "action": {"type": "exec", "command": ["ls", "-l"], "env": {}},
    },
    "apply_patch_call": {
        "type": "apply_patch_call",
        **_ID,
        "operation": {"type": "create_file", "path": "notes.txt", "diff": "+Hello\n"},
    },
    "computer_call": {
        "type": "computer_call",
        **_ID,
        "actions": [{"type": "click", "x": 10, "y": 20, "button": "left"}],
        "pending_safety_checks": [],
    },
    "tool_search_call": {
        "type": "tool_search_call",
        **_ID,
        "execution": "client",
        "arguments": {"query": "add and multiply"},
    },
    "mcp_approval_request": {
        "type": "mcp_approval_request",
        "id": "mcpr_1",
        "server_label": "crm",
        "name": "delete_contact",
        "arguments": '{"id": 7}',
    },
    STEP: {"type": "function_call", "id": "call_1", "name": "calculator", "arguments": {"expression": "6 * 7"}},
}

_FORMS: Mapping[str, _Form] = {
    "custom": _Form(OpenAICustomCall, "openai", _read_chat_custom, ITEM_EXAMPLES["custom"]),
    STEP: _Form(GeminiFunctionCallStep, "gemini", _read_step, ITEM_EXAMPLES[STEP]),
    **{
        kind: _Form(model, "openai-responses", read, ITEM_EXAMPLES[kind])
        for kind, model, read in (
            ("custom_tool_call", CustomToolCall, _read_custom),
            ("shell_call", ShellCall, _read_shell),
            ("local_shell_call", LocalShellCall, _read_local_shell),
            ("apply_patch_call", ApplyPatchCall, _read_patch),
            ("computer_call", ComputerCall, _read_computer),
            ("tool_search_call", ToolSearchCall, _read_search),
            ("mcp_approval_request", MCPApprovalRequest, _read_question),
        )
    },
}


_TYPES: Mapping[str, str] = {
    **dict.fromkeys(
        "web_search_call file_search_call code_interpreter_call image_generation_call mcp_call mcp_list_tools program"
        " program_output".split(),
        "OpenAI",
    ),
    **dict.fromkeys("server_tool_use mcp_tool_use".split(), "Anthropic"),
    **dict.fromkeys(
        "code_execution_call google_search_call google_maps_call url_context_call retrieval_call processing_call"
        " mcp_server_tool_call".split(),
        "Google",
    ),
}

_PARTS = ("executableCode", "executable_code", "codeExecutionResult", "code_execution_result")


def refuse_executed(body: Mapping[str, Any]) -> None:
    """Refuse a call that its provider has run already, or runs elsewhere.

    Raises:
        NotAToolCall: It is such a call.
    """
    kind = body.get("type")
    part = next((name for name in _PARTS if body.get(name) is not None), None)  # SDKs write all fields, as null.
    if isinstance(kind, str) and kind in _TYPES:
        raise NotAToolCall(_explain(kind, _TYPES[kind]))
    if kind is None and part is not None:
        raise NotAToolCall(_explain(part, "Google"))
    if kind == "tool_search_call" and body.get("execution") == "server":
        raise NotAToolCall(_explain("tool_search_call with execution=server", "OpenAI"))
    place = body.get("environment")
    place = place.get("type", "local") if isinstance(place, dict) else "local"
    if kind == "shell_call" and place != "local":
        where = f"a container of the provider's ({place!s:.40})"
        raise NotAToolCall(f"`shell_call` is for {where}, and is executed there; it is not run here.")


def is_executed(body: Mapping[str, Any]) -> bool:
    """Return whether a call is refused because its provider has run it, or runs it elsewhere."""
    try:
        refuse_executed(body)
    except NotAToolCall:
        return True
    return False


def _explain(what: str, provider: str) -> str:
    return f"`{what}` was already executed by the provider ({provider}); it is not run here, and needs no answer."
