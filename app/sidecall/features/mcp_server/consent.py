"""Carry out the decisions of a client's person.

Only the approval's id goes to the client and back. All that must hold is kept on the server, where clients cannot
change it: whose call it is, what it asks for, when it expires, and that it is decided once.
"""

import asyncio
import hashlib
import json
from contextlib import suppress
from typing import Any

from sidecall.features.approvals.decide import DecisionTerms, decide
from sidecall.features.mcp_server.parts import McpParts
from sidecall.features.mcp_server.questions import name_question
from sidecall.features.mcp_server.revisions import INVALID_PARAMS, RpcError, RpcMessage
from sidecall.kernel.core.errors import ApprovalConflict, InvalidDecision, ToolChanged, UnknownApproval
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.record import CallRecord
from sidecall.kernel.ports.approvals.approval import AlreadyAnswered, ApprovalRecord, ApprovalRequired, Decision
from sidecall.kernel.ports.approvals.fingerprint import compute_fingerprint

# Reasons of rejection, by the client's answer to its form. A form that was closed is not left to be approved later,
# when no client waits for the answer.
_REASONS = {"decline": None, "cancel": "The person closed the form without a decision."}
# How often, and how many seconds apart, a waiting call is checked for its answer.
_LOOKS, _LOOK = 100, 0.25
_UNKNOWN_STATE = "`requestState` is not that of this call, or has expired: send the call without it."


def make_call_id(params: dict[str, Any]) -> str:
    """Make the key by which a repeated call is recognized, from a client that cannot ask."""
    said = [params["name"], params.get("arguments") or {}]
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
        terms = DecisionTerms(auditor=parts.auditor)
        approval = await decide(parts.pipeline, parts.approvals, record.approval.id, decision, request.caller, terms)
    except ToolChanged as error:
        raise RpcError(INVALID_PARAMS, error.message, dict(error.members)) from None
    except ApprovalConflict:
        return await _repeat(parts, request, record.approval.id)
    except InvalidDecision as error:
        raise RpcError(INVALID_PARAMS, error.message, dict(error.members) or None) from None
    if parts.jobs is not None:
        await parts.jobs.notice(approval)
    if approval.message is None:  # Its tool asks again.
        raise ApprovalRequired.of(approval)
    return approval.message


async def _find_record(parts: McpParts, request: CallRequest, state: Any) -> ApprovalRecord:
    """Find the approval of this very call: same caller, tool and arguments."""
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
