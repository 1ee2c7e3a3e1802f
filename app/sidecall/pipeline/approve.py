"""Stop calls that a person has to approve first."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from sidecall.core.approval import ApprovalRequired, Approvals
from sidecall.core.invocation import Invocation
from sidecall.core.messages import ToolCall
from sidecall.core.record import CallRecord
from sidecall.core.tool import CompiledTool
from sidecall.pipeline.hooks import HookFailed, call_hook, patience
from sidecall.telemetry import log_hook_failure


def wants_approval(tool: CompiledTool) -> bool:
    """Return whether some calls of this tool need approval."""
    return tool.options.requires_approval is not False


class Approve:
    """Ask for approval where the tool's author wants it."""

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    async def __call__(self, invocation: Invocation) -> None:
        """Let the call go on when it is approved or needs no approval.

        Raises:
            ApprovalRequired: A person has to decide.
            TooManyApprovals: Too many calls wait already.
        """
        if not invocation.request.approved and await _is_required(invocation):
            call = CallRecord.of(invocation.request, invocation.id)
            asked = ToolCall(name=invocation.tool.name, args=_write_args(invocation.args), id=invocation.call.id)
            raise ApprovalRequired((await self._approvals.ask(call, asked)).approval)


def _write_args(args: Mapping[str, Any]) -> dict[str, Any]:
    """Write arguments as JSON, also those that a guardrail put in place of the model's."""
    written: dict[str, Any] = to_jsonable_python(args, fallback=str, inf_nan_mode="strings")
    return written


async def _is_required(invocation: Invocation) -> bool:
    """Ask the author's policy; whatever is not exactly False, a crash included, asks a person."""
    policy = invocation.tool.options.requires_approval
    if isinstance(policy, bool):
        return policy
    try:
        answer = await call_hook(
            policy, invocation.tool_context, invocation.visible_values, patience=patience(invocation)
        )
    except HookFailed as failed:
        log_hook_failure(invocation, "the approval policy", failed.__cause__ or failed)
        return True
    return answer is not False
