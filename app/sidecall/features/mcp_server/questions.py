"""Ask a client's person with a form, or explain in words for its model."""

import json
from typing import Any

from sidecall.features.mcp_server.parts import Exchange, McpParts
from sidecall.features.mcp_server.revisions import META, RpcMessage, write_meta
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.approvals.approval import Approval, ApprovalRecord

_PRIMITIVES = frozenset(("string", "integer", "number", "boolean"))
# The properties that a form may have for a field.
_SAID = ("type", "title", "description", "enum", "minLength", "maxLength", "minimum", "maximum")
_SHOWN = 2000


def name_question(approval: Approval) -> str:
    """Name the present question of an approval: an answer to it does not answer later ones."""
    return f"approval-{approval.question}"


async def answer_waiting(
    parts: McpParts, approval: Approval, message: RpcMessage, exchange: Exchange
) -> dict[str, Any]:
    """Make the result of a waiting call: a form for the person, or a text for the model.

    Raises:
        UnknownApproval: It has just expired.
    """
    if approval.status == "pending" and _can_put(approval, message, exchange):
        record = await parts.approvals.get(approval.id)
        # It may have been decided meanwhile, and the tool asked something else.
        approval = record.approval
        if approval.status == "pending" and _can_put(approval, message, exchange):
            asked = {"method": "elicitation/create", "params": _make_question(parts, record)}
            return {
                "resultType": "input_required",
                "inputRequests": {name_question(approval): asked},
                "requestState": approval.id,
                "_meta": META,
            }
    told = {"kind": "approval_required", "approval_id": approval.id}
    meta = write_meta(message.meta, {"error": told})
    text = {"type": "text", "text": _explain(approval, exchange.find_url())}
    return {"content": [text], "isError": True, "resultType": "complete", "_meta": meta}


def _can_put(approval: Approval, message: RpcMessage, exchange: Exchange) -> bool:
    return exchange.can_ask(message) if approval.sign_in is None else exchange.can_lead(message)


def _explain(approval: Approval, url: str | None) -> str:
    name = approval.tool_call.name
    if approval.status != "pending":
        return f"Error: {name} was {approval.status} and still runs. Make the same call again for its answer."
    if approval.sign_in is not None:
        return (
            f"Error: {name} waits until a person has signed in at {approval.sign_in.provider}: {approval.sign_in.url} "
            "It has not run. Once they have signed in, make the same call again for its answer."
        )
    if url is None:
        return f"Error: {name} has to be approved by a person, and nobody can be asked over this connection."
    where = f"{url}/approvals/{approval.id}"
    if approval.description is not None:  # The tool asks by itself, perhaps in the middle of its work.
        return (
            f"Error: {name} asks a person, at {where}, and goes on once they have decided. "
            "Make the same call again then for its answer."
        )
    return (
        f"Error: {name} waits for a person's approval, at {where}. It has not run. "
        "Once they have approved it, make the same call again for its answer."
    )


def _make_question(parts: McpParts, record: ApprovalRecord) -> dict[str, Any]:
    """Make what a client puts before its person."""
    approval, sign_in = record.approval, record.approval.sign_in
    if sign_in is None:
        return _make_form(record, parts.registry.get(approval.tool_call.name))
    text = f"Sign in at {sign_in.provider}, so that {approval.tool_call.name} may act for you."
    return {"mode": "url", "elicitationId": approval.id, "url": sign_in.url, "message": text}


def _make_form(record: ApprovalRecord, tool: CompiledTool | None) -> dict[str, Any]:
    call, has_begun = record.approval.tool_call, record.state is not None
    # A call that has started keeps its arguments.
    is_fixed = tool is None or has_begun or record.is_inside
    fields = {} if tool is None or is_fixed else _list_fields(tool, call.args)
    schema = {"type": "object", "properties": fields}
    return {
        "mode": "form",
        "message": _format_question(record.approval, has_begun=has_begun),
        "requestedSchema": schema,
    }


def _format_question(approval: Approval, *, has_begun: bool) -> str:
    where = "" if approval.conversation_id is None else f" in the conversation {approval.conversation_id}"
    call = f"{approval.tool_call.name} with {_cut(approval.tool_call.args)}{where}"
    text = f"{call} has begun." if has_begun else f"Run {call}?"
    if approval.description is not None:
        text += f" It asks: {approval.description}"
    if approval.payload is not None:
        text += f" It shows: {_cut(approval.payload)}"
    if approval.preview is not None:
        preview = approval.preview
        text += f" It would do this: {preview if isinstance(preview, str) else json.dumps(preview)}"
    return text


def _cut(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}… {len(shown) - _SHOWN} more characters"


def _list_fields(tool: CompiledTool, args: Any) -> dict[str, Any]:
    """List the arguments that a form can show, with the model's values, for a person to change."""
    known = tool.args_schema.flat.get("properties", {})
    fields = {}
    for name, value in args.items() if isinstance(args, dict) else ():
        schema = known.get(name, {})
        if schema.get("type") in _PRIMITIVES and isinstance(value, str | int | float):
            fields[name] = {**{key: schema[key] for key in _SAID if key in schema}, "default": value}
    return fields
