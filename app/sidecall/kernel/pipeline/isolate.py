"""Convert errors of single calls to messages for their place in a batch."""

from sidecall.features.calls.errors import ContractChanged, KeyReused
from sidecall.kernel.core.error_kind import ErrorKind
from sidecall.kernel.core.errors import (
    CallUnanswered,
    GuardrailTripped,
    RequestError,
    ToolCallFailed,
)
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.overload import Overloaded
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.ports.approvals.approval import ApprovalRequired

# By what a call may end, rather than be kept from running, with the names that problems have.
_ENDS: dict[str, type[RequestError]] = {"tool-call-failed": ToolCallFailed, "guardrail-tripped": GuardrailTripped}
_PREFIX = "urn:sidecall:problem:"


def answer_for(request: CallRequest, error: RequestError | ApprovalRequired) -> ToolMessage:
    """Make the ToolMessage that stands in a batch for an error of the request, or for a pending approval."""
    failure = CallUnanswered(find_kind(error), error.message)
    if isinstance(error, Overloaded):
        failure.retryable, failure.retry_after_ms = True, error.retry_after * 1000
    if isinstance(error, ToolCallFailed):
        failure.retryable = error.members["retryable"]
    message = refuse(failure, request.call)
    if isinstance(error, ApprovalRequired):
        message.response_metadata["approval_id"] = error.approval.id
    return message


def is_end(error: RequestError) -> bool:
    """Return whether an error is the final outcome of the call, so that a retry would not help."""
    return isinstance(error, tuple(_ENDS.values()))


def end_by_problem(request: CallRequest, error: RequestError) -> ToolMessage:
    """Make the ToolMessage of a call that ended in a problem, with the text a waiting client would get."""
    message = answer_for(request, error)
    name = next(name for name, kind in _ENDS.items() if isinstance(error, kind))
    message.response_metadata["error"]["problem"] = {"type": _PREFIX + name, "detail": error.message, **error.members}
    return message


def find_problem(message: ToolMessage) -> RequestError | None:
    """Return the error with which a call ended, for a waiting client; None for other answers."""
    problem = message.response_metadata.get("error", {}).get("problem")
    if problem is None:
        return None
    members = {name: value for name, value in problem.items() if name not in {"type", "detail"}}
    return _ENDS[problem["type"].removeprefix(_PREFIX)](problem["detail"], **members)


def find_kind(error: RequestError | ApprovalRequired) -> ErrorKind:
    """Return the failure kind for such an error."""
    if isinstance(error, ToolCallFailed):
        kind: ErrorKind = error.members["kind"]
        return kind
    if isinstance(error, Overloaded):
        return "overloaded"
    if isinstance(error, GuardrailTripped):
        return "denied"
    if isinstance(error, ContractChanged):
        return "contract_changed"
    if isinstance(error, KeyReused):
        return "key_reused"
    return "approval_required" if isinstance(error, ApprovalRequired) else "missing_context"
