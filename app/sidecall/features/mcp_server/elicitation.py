"""Ask a client's person with a form, or explain in words for its model."""

import asyncio
import hashlib
import json
from contextlib import suppress
from typing import Any

from sidecall.features.approvals.decide import DecisionTerms, decide
from sidecall.features.approvals.record import ApprovalRecord, Decision, compute_fingerprint
from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.mcp_server.parts import Exchange, McpParts
from sidecall.features.mcp_server.revisions import INVALID_PARAMS, META, RpcError, RpcMessage, write_meta
from sidecall.kernel.core.errors import ApprovalConflict, InvalidDecision, ToolChanged, UnknownApproval
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.approvals.approval import AlreadyAnswered, Approval, ApprovalRequired

# Reasons of rejection, by the client's answer to its form. A form that was closed is not left to be approved later,
# when no client waits for the answer.
_REASONS = {"decline": None, "cancel": "The person closed the form without a decision."}
# How often, and how many seconds apart, a waiting call is checked for its answer.
_LOOKS, _LOOK = 100, 0.25
_UNKNOWN_STATE = "`requestState` is not that of this call, or has expired: send the call without it."


def make_call_id(name: str, args: Any) -> str:
    """Make the key by which a repeated call is recognized, from a client that cannot ask."""
    said = [name, args or {}]
    return f"call_{hashlib.sha256(_ENCODER.encode(said).encode()).hexdigest()[:32]}"


# Kept, since the module makes one for each text otherwise.
_ENCODER = json.JSONEncoder(sort_keys=True)


async def resume(parts: McpParts, request: CallRequest, message: RpcMessage) -> ToolMessage:
    """Carry out a person's decision about a repeated call.

    Raises:
        ApprovalRequired: It is undecided, or asks something else by now.
        RpcError: The returned state is not that of this call.
        RequestError: It cannot be carried out now.
    """
    record = await _find_record(parts, request, message.params["requestState"])
    request.call = request.call.model_copy(update={"id": _find_id(record)})
    decision = _read_decision(message.params.get("inputResponses"), record)
    is_led = record.approval.sign_in is not None and decision is not None and decision.decision == "approve"
    if decision is None or is_led or record.approval.status != "pending":
        if is_led or record.is_running:  # This only says that they follow the link.
            await _wait(parts, record.approval.id)
        return await _repeat(parts, request, record.approval.id)
    return await _decide(parts, request, record, decision)


async def _wait(parts: McpParts, approval_id: str) -> None:
    """Wait, with a limit, for a call whose person signs in or decides elsewhere.

    Its client may send it again.
    """
    with suppress(UnknownApproval):
        for _ in range(_LOOKS):
            approval = (await parts.approvals.get(approval_id)).approval
            if approval.message is not None or (approval.status == "pending" and approval.sign_in is None):
                return
            await asyncio.sleep(_LOOK)


async def _repeat(parts: McpParts, request: CallRequest, approval_id: str) -> ToolMessage:
    """Answer a call that has waited with its present state; it does not run again."""
    record = await parts.approvals.get(approval_id)
    if record.approval.sign_in is not None and record.approval.status == "pending":
        return await parts.run(request)  # This checks whether they have signed in.
    known = record.as_error()
    if isinstance(known, AlreadyAnswered):
        return known.answer
    raise known


async def _decide(parts: McpParts, request: CallRequest, record: ApprovalRecord, decision: Decision) -> ToolMessage:
    try:
        terms, by = DecisionTerms(auditor=parts.auditor), request.sender.caller
        approval, _ = await decide(parts.pipeline, parts.approvals, record.approval.id, decision, by, terms)
    except ToolChanged as error:
        raise RpcError(INVALID_PARAMS, error.message, dict(error.members)) from None
    except ApprovalConflict:
        return await _repeat(parts, request, record.approval.id)
    except InvalidDecision as error:
        raise RpcError(INVALID_PARAMS, error.message, dict(error.members) or None) from None
    if parts.jobs is not None:
        await parts.jobs.end_awaiting(approval)
    if approval.message is None:  # Its tool asks again.
        raise ApprovalRequired.of(approval)
    return approval.message


async def _find_record(parts: McpParts, request: CallRequest, state: Any) -> ApprovalRecord:
    """Find the approval of this very call: same caller, tool and arguments."""
    try:
        record = await parts.approvals.get(state if isinstance(state, str) else "", request.sender.caller.tenant)
    except UnknownApproval:
        raise RpcError(INVALID_PARAMS, _UNKNOWN_STATE) from None
    call = request.call.model_copy(update={"id": _find_id(record)})
    sent = CallRecord.of(request, "").model_copy(update={"tool_call": call})
    if compute_fingerprint(sent, record.asked) != record.fingerprint:
        raise RpcError(INVALID_PARAMS, _UNKNOWN_STATE)
    return record


def _find_id(record: ApprovalRecord) -> str:
    return record.asked.id if record.call is None else record.call.tool_call.id


def _read_decision(responses: Any, record: ApprovalRecord) -> Decision | None:
    found = responses.get(name_question(record.approval)) if isinstance(responses, dict) else None
    answer: dict[str, Any] = found if isinstance(found, dict) else {}
    action = answer.get("action")
    question = record.approval.question
    if action in _REASONS:
        return Decision(decision="reject", question=question, reason=_REASONS[action])
    if action != "accept":
        return None
    args, content = record.asked.args, answer.get("content")
    if not isinstance(content, dict) or not isinstance(args, dict):
        return Decision(decision="approve", question=question)
    edited = {**args, **{name: value for name, value in content.items() if name in args}}
    return Decision(decision="approve", question=question, args=None if edited == args else edited)


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
