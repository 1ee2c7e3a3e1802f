"""Ask the client's person to approve a call, and carry out what they decide.

What goes to the client and back is the id of the approval. All that has to hold of it is kept here, where no client
can change it: whose call it is, what it asks for, when it expires, and that it is decided once.
"""

import asyncio
import hashlib
import json
from contextlib import suppress
from typing import Any

from sidecall.core.approval import Approval, ApprovalRecord, ApprovalRequired, Decision
from sidecall.core.decisions.fingerprint import compute_fingerprint
from sidecall.core.errors import ApprovalConflict, InvalidDecision, UnknownApproval
from sidecall.core.invocation import CallRequest
from sidecall.core.messages import ToolMessage
from sidecall.core.record import CallRecord
from sidecall.core.tool import CompiledTool
from sidecall.mcp.exchange import Exchange
from sidecall.mcp.parts import McpParts
from sidecall.mcp.results import META
from sidecall.mcp.wire import INVALID_PARAMS, RpcError, RpcMessage
from sidecall.pipeline.decide import DecisionTerms, decide

# The name of our question among those of one result.
_QUESTION = "approval"
_PRIMITIVES = frozenset(("string", "integer", "number", "boolean"))
# What a form may say of a field.
_SAID = ("type", "title", "description", "enum", "minLength", "maxLength", "minimum", "maximum")
_SHOWN = 2000
# Why a call is rejected, by what the client says of its form. One that was closed is not left to be approved later,
# when nobody waits for its answer any more.
_REASONS = {"decline": None, "cancel": "The person closed the form without a decision."}
# How often, and how many seconds apart, it is looked whether a person has signed in.
_LOOKS, _LOOK = 100, 0.25
_UNKNOWN_STATE = "`requestState` is not that of this call, or has expired: send the call without it."


def make_call_id(params: dict[str, Any]) -> str:
    """Make the id of a call whose client cannot ask anybody, so that it is known again when it comes again."""
    said = [params["name"], params.get("arguments") or {}]
    return f"call_{hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:32]}"


def answer_waiting(
    waiting: ApprovalRequired, tool: CompiledTool | None, message: RpcMessage, exchange: Exchange
) -> dict[str, Any]:
    """Make the result of a call that waits for a person: a form for them, or words for the model."""
    approval = waiting.approval
    question = _make_question(approval, tool, message, exchange) if approval.status == "pending" else None
    if question is not None:
        asked = {"method": "elicitation/create", "params": question}
        return {
            "resultType": "input_required",
            "inputRequests": {_QUESTION: asked},
            "requestState": approval.id,
            "_meta": META,
        }
    told = {"kind": "approval_required", "approval_id": approval.id}
    meta = {**META, "sidecall/call": {"error": told}}
    text = {"type": "text", "text": _explain(approval, exchange.url)}
    return {"content": [text], "isError": True, "resultType": "complete", "_meta": meta}


def _make_question(
    approval: Approval, tool: CompiledTool | None, message: RpcMessage, exchange: Exchange
) -> dict[str, Any] | None:
    """Make what a client puts before its person; None where it can put nothing before anybody."""
    sign_in = approval.sign_in
    if sign_in is None:
        return _make_form(approval, tool) if exchange.can_ask(message) else None
    if not exchange.can_lead(message):
        return None
    text = f"Sign in at {sign_in.provider}, so that {approval.tool_call.name} may act for you."
    return {"mode": "url", "elicitationId": approval.id, "url": sign_in.url, "message": text}


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
    return (
        f"Error: {name} waits for a person's approval, at {url}/approvals/{approval.id}. It has not run. "
        "Once they have approved it, make the same call again for its answer."
    )


def _make_form(approval: Approval, tool: CompiledTool | None) -> dict[str, Any]:
    call = approval.tool_call
    shown = json.dumps(call.args, ensure_ascii=False)
    if len(shown) > _SHOWN:
        shown = f"{shown[:_SHOWN]}… {len(shown) - _SHOWN} more characters"
    where = "" if approval.conversation_id is None else f" in the conversation {approval.conversation_id}"
    text = f"Run {call.name} with {shown}{where}?"
    if approval.preview is not None:
        preview = approval.preview
        text += f" It would do this: {preview if isinstance(preview, str) else json.dumps(preview)}"
    fields = {} if tool is None or tool.name != call.name else _list_fields(tool, call.args)
    return {"mode": "form", "message": text, "requestedSchema": {"type": "object", "properties": fields}}


def _list_fields(tool: CompiledTool, args: Any) -> dict[str, Any]:
    """List the arguments that a form can show, with what the model wrote, for a person to change."""
    known = tool.args_schema.flat.get("properties", {})
    fields = {}
    for name, value in args.items() if isinstance(args, dict) else ():
        schema = known.get(name, {})
        if schema.get("type") in _PRIMITIVES and isinstance(value, str | int | float):
            fields[name] = {**{key: schema[key] for key in _SAID if key in schema}, "default": value}
    return fields


async def resume(parts: McpParts, request: CallRequest, message: RpcMessage) -> ToolMessage:
    """Carry out what a person has decided about a call, which comes for the second time.

    Raises:
        ApprovalRequired: They have not decided.
        RpcError: The state that came back is not that of this call.
        RequestError: It cannot be carried out now.
    """
    record = await _find_record(parts, request, message.params["requestState"])
    request.call = request.call.model_copy(update={"id": _find_id(record)})
    decision = _read_decision(message.params.get("inputResponses"), record)
    if record.approval.sign_in is not None and decision is not None and decision.decision == "approve":
        decision = None  # They have only said that they go there.
        await _wait_for_sign_in(parts, record.approval.id)
    if decision is None or record.approval.status != "pending":
        return await parts.run(request)
    return await _decide(parts, request, record, decision)


async def _wait_for_sign_in(parts: McpParts, approval_id: str) -> None:
    """Wait for the answer of a call whose person signs in; not for ever, since its client may do so again."""
    with suppress(UnknownApproval):
        for _ in range(_LOOKS):
            approval = (await parts.approvals.get(approval_id)).approval
            if approval.message is not None or (approval.status == "pending" and approval.sign_in is None):
                return
            await asyncio.sleep(_LOOK)


async def _decide(parts: McpParts, request: CallRequest, record: ApprovalRecord, decision: Decision) -> ToolMessage:
    try:
        terms = DecisionTerms(auditor=parts.auditor)
        approval = await decide(parts.pipeline, parts.approvals, record.approval.id, decision, request.caller, terms)
    except ApprovalConflict:
        return await parts.run(request)
    except InvalidDecision as error:
        raise RpcError(INVALID_PARAMS, error.message, dict(error.members) or None) from None
    if parts.jobs is not None:
        await parts.jobs.notice(approval)
    assert approval.message is not None
    return approval.message


async def _find_record(parts: McpParts, request: CallRequest, state: Any) -> ApprovalRecord:
    """Find the approval of this very call: from the same caller, of the same tool and arguments."""
    try:
        record = await parts.approvals.get(state if isinstance(state, str) else "", request.caller.tenant)
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
    found = responses.get(_QUESTION) if isinstance(responses, dict) else None
    answer: dict[str, Any] = found if isinstance(found, dict) else {}
    action = answer.get("action")
    if action in _REASONS:
        return Decision(decision="reject", reason=_REASONS[action])
    if action != "accept":
        return None
    args, content = record.asked.args, answer.get("content")
    if not isinstance(content, dict) or not isinstance(args, dict):
        return Decision(decision="approve")
    edited = {**args, **{name: value for name, value in content.items() if name in args}}
    return Decision(decision="approve", args=None if edited == args else edited)
