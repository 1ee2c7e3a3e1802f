"""Notify watchers of calls that had begun and expired while they waited for a person again."""

from dataclasses import replace

from sidecall.features.calls.errors import EXPIRED_MIDWAY, CallExpired
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.approval import ApprovalRecord
from sidecall.kernel.ports.approvals.decided import describe_beginning


def note_expired(pipeline: Pipeline, record: ApprovalRecord) -> None:
    """Write the end of an expired call, with what has run and who decided."""
    call = record.call
    if call is None or call.lost:
        return
    message = refuse(CallExpired(EXPIRED_MIDWAY), call.tool_call).model_copy(update={"id": call.id})
    request = replace(call.to_request(), resumes=record.approval.id, decided=describe_beginning(record))
    pipeline.note_end(request, message, "expired")
