"""Stop calls that a person has to approve first."""

from sidecall.core.approval import ApprovalRequired, Approvals
from sidecall.core.invocation import Invocation
from sidecall.core.tool import CompiledTool
from sidecall.pipeline.hooks import HookFailed, call_hook, patience
from sidecall.telemetry import log_hook_failure


def wants_approval(tool: CompiledTool) -> bool:
    """Tell whether some calls of this tool need approval."""
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
            raise ApprovalRequired(self._approvals.ask(invocation))


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
