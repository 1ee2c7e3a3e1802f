"""Dry run: what a call would do, without running the tool."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.json_data.to_json import to_plain
from sidecall.kernel.pipeline.arguments import validate
from sidecall.kernel.pipeline.execution.preview import make_preview
from sidecall.kernel.pipeline.stage import Foresee, Step
from sidecall.kernel.ports.approvals.approval import Approval, ApprovalRequired
from sidecall.kernel.ports.approvals.fingerprint import NO_PREVIEW, Preview


@dataclass(frozen=True, slots=True)
class DryRunResult:
    """The result of a dry run: the validated arguments, or `message` if the call would fail.

    `approval` is the pending one of the same call, if there is one; `sign_in` is the provider at which the person would
    have to sign in first.
    """

    args: dict[str, Any] = field(default_factory=dict)
    requires_approval: bool = False
    repaired: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    preview: Preview = NO_PREVIEW
    message: ToolMessage | None = None
    approval: Approval | None = None
    sign_in: str | None = None

    @property
    def would_run(self) -> bool:
        """Whether the tool would run, after approval where that is required."""
        return self.message is None and (self.approval is None or self.approval.status == "pending")


async def run_dry(invocation: Invocation, steps: Sequence[Step], foresee: Sequence[Foresee]) -> DryRunResult:
    """Take a call up to the arguments that its tool would get, and find whether it needs approval.

    Args:
        invocation: The call.
        steps: What it goes through when it succeeds.
        foresee: Find what some of them would do.

    Raises:
        AnsweredBefore: A person has decided about the same call, and it has its answer.
        ToolFailure: The arguments do not fit.
        MissingContext: The caller left something out.
    """
    approval: Approval | None = None
    for step in steps[: steps.index(validate) + 1]:
        try:
            waits = step(invocation)
            if waits is not None:
                await waits
        except ApprovalRequired as waiting:
            approval = waiting.approval
    is_asked = approval is not None and approval.sign_in is None
    foreseen = {name: value for find in foresee for name, value in (await find(invocation)).items()}
    if is_asked:
        foreseen["requires_approval"] = True
    args: dict[str, Any] = to_plain(invocation.visible_values)
    preview = await make_preview(invocation)
    return DryRunResult(
        args=args,
        repaired=invocation.repaired,
        ignored=invocation.ignored,
        preview=preview,
        approval=approval,
        **foreseen,
    )
