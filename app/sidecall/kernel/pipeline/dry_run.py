"""Dry run: what a call would do, without running the tool, by its preview function."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.json_data.to_json import render_failure, replace_surrogates, to_plain, to_text
from sidecall.kernel.pipeline.arguments import validate
from sidecall.kernel.pipeline.failure_log import log_hook_failure
from sidecall.kernel.pipeline.hooks import HookFailed, call_beside, patience
from sidecall.kernel.pipeline.stage import Foresee, Step
from sidecall.kernel.ports.approvals.approval import NO_PREVIEW, Approval, ApprovalRequired, Preview

# Bytes of JSON: enough for a person to read, and too little to take the place of calls that wait.
_LONGEST = 16 * 1024
# Characters of what a tool asks a person.
_LONGEST_QUESTION = 1000


async def make_preview(invocation: Invocation) -> Preview:
    """Return the preview of a call with validated arguments; failures of the preview do not fail the call."""
    hook = invocation.tool.preview
    if hook is None:
        return NO_PREVIEW
    try:
        said = await call_beside(
            hook, partial(hook.function, **hook.pick(invocation.values)), patience=patience(invocation)
        )
    except HookFailed as failed:
        return _explain(invocation, failed.__cause__ or failed)
    return _show(invocation, said)


async def show_question(invocation: Invocation, asked: ApprovalRequired) -> Preview:
    """Return the preview for a tool that asks a person while it runs."""
    shown = await make_preview(invocation) if asked.preview is None else _show(invocation, asked.preview)
    beside = NO_PREVIEW if asked.payload is None else _show(invocation, asked.payload, "payload")
    # Never nothing, by which a person and programs know that it is the tool who asks.
    text = replace_surrogates(_hide(invocation, asked.description or str(asked))[:_LONGEST_QUESTION])
    return Preview(shown.shown, shown.error or beside.error, text, beside.shown, state=asked.state)


def _show(invocation: Invocation, said: Any, what: str = "preview") -> Preview:
    try:
        plain = _hide(invocation, to_plain(said))
        size = len(to_text(plain).encode())
    except ValueError as error:
        return _explain(invocation, error, what)
    if size > _LONGEST:
        return Preview(error=f"The {what} is too long to be shown: {size:,} bytes, of {_LONGEST:,} at most.")
    return Preview(plain)


def _hide(invocation: Invocation, shown: Any) -> Any:
    return shown if invocation.secrets.mask is None else invocation.secrets.mask.hide(shown)


def _explain(invocation: Invocation, error: BaseException, what: str = "preview") -> Preview:
    """Format a preview's failure; the text of a ToolException is meant to be read."""
    if isinstance(error, ToolException):
        said = _hide(invocation, replace_surrogates(render_failure(error)))
        return Preview(error=said[:_LONGEST])
    log_hook_failure(invocation, f"the {what}", error)
    return Preview(error=f"The {what} failed. The details are in the log.")


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
        repaired=invocation.remarks.repaired,
        ignored=invocation.remarks.ignored,
        preview=preview,
        approval=approval,
        **foreseen,
    )
