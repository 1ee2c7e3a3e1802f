"""Stop calls that a person has to approve first."""

from collections.abc import Awaitable, Mapping
from typing import Any

from pydantic_core import to_jsonable_python

from sidecall.core.approval import AnsweredBefore, Approvals, ApprovalWanted
from sidecall.core.errors import ToolExecutionError
from sidecall.core.invocation import Invocation
from sidecall.core.messages import ToolCall
from sidecall.core.record import CallRecord
from sidecall.core.tool import CompiledTool
from sidecall.pipeline.execution.preview import make_preview
from sidecall.pipeline.hooks import HookFailed, call_hook, patience
from sidecall.telemetry import log_hook_failure


def wants_approval(tool: CompiledTool) -> bool:
    """Return whether some calls of this tool need approval."""
    return tool.options.requires_approval is not False


class Recall:
    """Know a call again that was sent before, so that it neither waits nor runs a second time."""

    # It stands before all that looks at arguments: what they judge may have changed since, and the answer has not.

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    async def __call__(self, invocation: Invocation) -> None:
        """Let the call go on when it is approved or new.

        Raises:
            ApprovalRequired: It waits, or it was approved and still runs.
            AnsweredBefore: It has its answer.
        """
        if not invocation.request.approved:
            known = await self._approvals.find(CallRecord.of(invocation.request, invocation.id))
            if known is not None:
                raise known.as_error()


def repeat_answer(invocation: Invocation) -> None:
    """Give a call that was answered before the same answer."""
    if isinstance(invocation.error, AnsweredBefore):
        invocation.message = invocation.error.answer


class Approve:
    """Ask for approval where the tool's author wants it."""

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    async def __call__(self, invocation: Invocation) -> None:
        """Let the call go on when it is approved or needs no approval.

        Raises:
            ApprovalRequired: A person has to decide.
            AnsweredBefore: One has decided about the same call, which came while this one was on its way.
            TooManyApprovals: Too many calls wait already.
        """
        if not invocation.request.approved and await is_required(invocation):
            call = CallRecord.of(invocation.request, invocation.id)
            asked = ToolCall(name=invocation.tool.name, args=_write_args(invocation.args), id=invocation.call.id)
            raise (await self._approvals.ask(call, asked, await make_preview(invocation))).as_error()


class ApproveInside:
    """Ask for approval of what a tool is about to do, once it has said so; when it is given, the tool runs again."""

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    def __call__(self, invocation: Invocation) -> Awaitable[None] | None:
        """Put the approval in the place of the failure that says so; nothing has to be awaited for any other."""
        error = invocation.error
        wanted = error.__cause__ if isinstance(error, ToolExecutionError) else None
        return self._ask(invocation, wanted.tool_call) if isinstance(wanted, ApprovalWanted) else None

    async def _ask(self, invocation: Invocation, wanted: ToolCall) -> None:
        call = CallRecord.of(invocation.request, invocation.id)
        raise (await self._approvals.ask(call, wanted)).as_error() from None


def _write_args(args: Mapping[str, Any]) -> dict[str, Any]:
    """Write arguments as JSON, also those that a guardrail put in place of the model's."""
    written: dict[str, Any] = to_jsonable_python(args, fallback=str, inf_nan_mode="strings")
    return written


async def is_required(invocation: Invocation) -> bool:
    """Return whether a person has to approve a call, as its author's policy says, or a policy that crashes."""
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
