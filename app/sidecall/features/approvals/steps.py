"""Suspend calls that need approval."""

import asyncio
from collections.abc import Awaitable, Coroutine, Mapping
from dataclasses import replace
from typing import Any

from msgspec import structs
from pydantic_core import to_jsonable_python

from sidecall.features.approvals.record import ApprovalRecord, describe_decision
from sidecall.features.approvals.stores import ApprovalRules, Approvals
from sidecall.kernel.core.call_record import CallRecord
from sidecall.kernel.core.errors import CallRejected, ToolExecutionError
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.messages import ToolCall, copy_message
from sidecall.kernel.core.native_results import CHECKS, DECISION, wants_acknowledgement
from sidecall.kernel.core.origin import get_origin
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.dry_run import make_preview, show_question
from sidecall.kernel.pipeline.failure_log import log_hook_failure
from sidecall.kernel.pipeline.hooks import HookFailed, call_hook, patience
from sidecall.kernel.pipeline.stage import FailurePlace, Place, Stage
from sidecall.kernel.ports.approvals.approval import (
    AlreadyAnswered,
    ApprovalRequired,
    ApprovalWanted,
    AskedTool,
    Preview,
)
from sidecall.kernel.ports.approvals.questions import asks_inside
from sidecall.kernel.ports.approvals.review import Decided
from sidecall.kernel.ports.approvals.rules import ApprovedByRule
from sidecall.kernel.schema.forms.definitions import hash_definition, render_definition


def takes_user_tokens(tool: CompiledTool) -> bool:
    """Return whether a tool acts for its caller's person."""
    return any(injection.source == "user_token" for injection in tool.injections)


# Tools whose providers may ask a person to acknowledge a call.
_ACKNOWLEDGED = frozenset(("computer", "computer_use"))


def wants_approval(tool: CompiledTool) -> bool:
    """Return whether some calls of this tool need approval."""
    return tool.options.requires_approval is not False or not _ACKNOWLEDGED.isdisjoint(tool.options.native)


def may_ask(tool: CompiledTool) -> bool:
    """Return whether calls of this tool may wait for a person.

    Whether a tool asks while it runs is seen in its code. A tool for which other modules ask runs until it asks when
    its call is repeated.
    """
    return is_asked_about(tool) or asks_inside(tool.function)


def is_asked_about(tool: CompiledTool) -> bool:
    """Return whether calls of this tool may wait for a person before it runs."""
    return wants_approval(tool) or (bool(tool.injections) and takes_user_tokens(tool))


class FindPrevious:
    """Recognize a call that was sent before, so that it neither waits nor runs a second time."""

    # Runs before all checks of arguments: the checks may have changed since, the answer has not.

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    async def __call__(self, invocation: Invocation) -> None:
        """Pass a call that is approved or new.

        Raises:
            ApprovalRequired: It waits, or is approved and still running.
            AnsweredBefore: It has its answer.
            StoreUnavailable: The approval of the call cannot be looked up.
        """
        review = invocation.request.review
        if review.approved or review.approval_id is not None:
            return
        try:
            # Its state, which may be large, does not matter here: it changes while a call waits.
            request = invocation.request.copy_with(state=None)
            known = await self._approvals.find(CallRecord.of(request, invocation.id, get_origin(invocation)))
        except StoreUnavailable:
            # Most calls of a tool that may ask never do; the others find out when they ask.
            if is_asked_about(invocation.tool):
                raise
            return
        if known is not None:
            await self._look_again(invocation, known)
            raise known.as_error()

    async def _look_again(self, invocation: Invocation, known: ApprovalRecord) -> None:
        """Continue a call whose sign-in is done but was not delivered because a server stopped."""
        tokens, sign_in = invocation.services.resources.user_tokens, known.approval.sign_in
        if tokens is not None and sign_in is not None and known.approval.status == "pending":
            await tokens.look_again(invocation.request.sender.caller, sign_in.provider)


def replay_answer(invocation: Invocation) -> None:
    """Repeat the answer of a call that was answered before; its sender finds the decision in the request."""
    if isinstance(invocation.error, AlreadyAnswered):
        approval = invocation.error.approval
        decided = describe_decision(approval)
        decision = None if decided is None else replace(decided, approval_id=approval.id)
        request = invocation.request
        request.review = structs.replace(request.review, decision=decision)
        invocation.message = copy_message(invocation.error.answer)


class Rules:
    """Apply rules: decisions that hold for all calls of a tool by one caller."""

    def __init__(self, rules: ApprovalRules | None) -> None:
        self._rules = rules

    async def follow(self, invocation: Invocation) -> None:
        """Apply the rule for a call; without one, return.

        Raises:
            ApprovedByRule: A rule approves it; it runs from the top.
            CallRejected: A rule rejects it.
        """
        if self._rules is None:
            return
        request, tool = invocation.request, invocation.tool
        caller = request.sender.caller
        rule = await self._rules.find(caller, tool.name, hash_definition(tool))
        if rule is None:
            return
        request.review = structs.replace(request.review, decision=Decided.by_rule(rule))
        if rule.decision == "approve":
            raise ApprovedByRule(rule)
        invocation.request = request.copy_reviewed(rule=rule)
        raise CallRejected(rule.reason)


class Approve:
    """Ask for approval where the tool's author wants it."""

    def __init__(self, approvals: Approvals, rules: ApprovalRules | None = None) -> None:
        self._approvals = approvals
        self._rules = Rules(rules)

    async def __call__(self, invocation: Invocation) -> None:
        """Pass a call that is approved or needs no approval.

        Raises:
            ApprovalRequired: A person has to decide.
            ApprovedByRule: A rule approves it; it runs from the top.
            CallRejected: A rule rejects it.
            AnsweredBefore: The same call was decided while this one was on its way.
            TooManyApprovals: Too many calls wait already.
        """
        if not invocation.request.review.approved and await is_required(invocation):
            preview = await make_preview(invocation)
            if wants_acknowledgement(invocation.call):  # Each time.
                preview = _show_checks(invocation.call, preview)
            else:
                await self._rules.follow(invocation)
            raise (await ask_person(self._approvals, invocation, preview)).as_error()


def _show_checks(call: ToolCall, preview: Preview) -> Preview:
    """Show a person what the model's provider wants to be acknowledged."""
    item = call.item or {}
    checks = item.get(CHECKS) or [item.get(DECISION)]
    said = [str(check.get("message") or check.get("explanation") or check.get("code") or "") for check in checks]
    text = "The model's provider wants this to be looked at: " + "; ".join(words for words in said if words)
    return replace(preview, description=text.removesuffix(": "), payload=checks)


class ApproveInside:
    """Ask for approval when a running tool requests it; once approved, the tool runs again.

    A tool that asks a second time about the same call fails, so that it cannot ask forever, unless its questions carry
    a state that shows progress.
    """

    def __init__(self, approvals: Approvals, rules: ApprovalRules | None = None) -> None:
        self._approvals = approvals
        self._rules = Rules(rules)

    def __call__(self, invocation: Invocation) -> Awaitable[None] | None:
        """Replace the failure that requests approval by the approval; return None at once for other failures."""
        error = invocation.error
        wanted = error.__cause__ if isinstance(error, ToolExecutionError) else None
        if isinstance(wanted, ApprovalWanted):
            return self._ask(invocation, wanted.tool_call)
        if not isinstance(wanted, ApprovalRequired) or not wanted.is_new:
            return None
        if invocation.request.review.approved and wanted.state is None:
            wanted.add_note("The call was approved already; a tool that sees `context.approved` has to go on.")
            return None
        return self._ask_about(invocation, wanted)

    async def _ask_about(self, invocation: Invocation, wanted: ApprovalRequired) -> None:
        if wanted.state is None:  # A rule for all calls does not answer a question.
            await self._rules.follow(invocation)
        raise (
            await ask_person(self._approvals, invocation, await show_question(invocation, wanted))
        ).as_error() from None

    async def _ask(self, invocation: Invocation, wanted: ToolCall) -> None:
        call = CallRecord.of(invocation.request, invocation.id, get_origin(invocation))
        preview = Preview(tool=describe_tool(invocation.tool))
        raise (await _ask_whole(invocation, self._approvals.ask(call, wanted, preview))).as_error() from None


def describe_tool(tool: CompiledTool) -> AskedTool:
    """Describe a tool as a person is asked about it: its definition, and the hash of it."""
    known: AskedTool | None = tool.derived.get(describe_tool)
    if known is None:
        known = tool.derived[describe_tool] = AskedTool(hash_definition(tool), render_definition(tool))
    return known


async def ask_person(approvals: Approvals, invocation: Invocation, preview: Preview) -> ApprovalRecord:
    """Suspend a call until a person decides; one that has waited before keeps its id.

    Raises:
        TooManyApprovals: Too many calls wait already.
    """
    preview = replace(preview, tool=describe_tool(invocation.tool))
    waited = invocation.request.review.approval_id
    if waited is not None:
        return await approvals.reopen(waited, preview)
    call = CallRecord.of(invocation.request, invocation.id, get_origin(invocation))
    return await _ask_whole(invocation, approvals.ask(call, show_call(invocation), preview))


async def _ask_whole(invocation: Invocation, asking: Coroutine[Any, Any, ApprovalRecord]) -> ApprovalRecord:
    """Store the question even if the call is cancelled meanwhile, so that the cancellation can withdraw it."""
    if invocation.request.job is None:
        return await asking
    task, is_cancelled = asyncio.ensure_future(asking), False
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            is_cancelled = True
    if is_cancelled and task.exception() is not None:
        raise asyncio.CancelledError
    return task.result()


def show_call(invocation: Invocation) -> ToolCall:
    """Return the call as it is shown to a person for approval."""
    return ToolCall(name=invocation.tool.name, args=_write_args(invocation.args), id=invocation.call.id)


def _write_args(args: Mapping[str, Any]) -> dict[str, Any]:
    """Write arguments as JSON, including those that a guardrail changed."""
    written: dict[str, Any] = to_jsonable_python(args, fallback=str, inf_nan_mode="strings")
    return written


async def is_required(invocation: Invocation) -> bool:
    """Return whether a call needs approval by its author's policy; a policy that raises counts as yes."""
    policy = invocation.tool.options.requires_approval
    if wants_acknowledgement(invocation.call):
        return True
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


async def foresee_approval(invocation: Invocation) -> Mapping[str, Any]:
    """Find for a dry run whether a person would be asked."""
    return {"requires_approval": await is_required(invocation)}


def make_approval_stages(approvals: Approvals, rules: ApprovalRules | None = None) -> list[Stage]:
    """Make the steps that suspend calls until a person has decided."""
    return [
        Stage(Place.RECALL, FindPrevious(approvals), may_ask),
        Stage(Place.AUTHORIZE, Approve(approvals, rules), wants_approval, foresee=foresee_approval),
        Stage(FailurePlace.ASK, ApproveInside(approvals, rules)),
        Stage(FailurePlace.REPLAY, replay_answer),
    ]
