"""What happens to a call that the gate has let in."""

from collections.abc import Mapping

from sidecall.features.approvals.steps import (
    Approve,
    ApproveInside,
    FindPrevious,
    may_ask,
    replay_answer,
    takes_user_tokens,
    wants_approval,
)
from sidecall.features.cache.answers import Caching
from sidecall.features.cache.run import RunCached, has_cache, has_no_cache
from sidecall.features.contract.deprecated import is_deprecated, note_deprecated
from sidecall.features.credentials.hide import hide_in_answer, hide_in_events, takes_secrets
from sidecall.features.credentials.look_up import look_up_secrets, takes_own_secrets
from sidecall.features.credentials.require_sign_in import RenewSignIn, RequireSignIn, look_up_tokens
from sidecall.features.workspaces.steps import (
    leave_workspace,
    list_files,
    note_workspace,
    open_workspace,
    takes_workspace,
)
from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.executors.base import Executor
from sidecall.kernel.pipeline.budget import Budget
from sidecall.kernel.pipeline.decode import decode
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.failure_policy import has_way_through, log_failure, reraise, wrap_unexpected
from sidecall.kernel.pipeline.format import format_failure, format_output, note_ignored, notes_ignored
from sidecall.kernel.pipeline.guard import guard_input, guard_output, has_input_guardrails, has_output_guardrails
from sidecall.kernel.pipeline.inject import has_injections, inject
from sidecall.kernel.pipeline.refuse_caller import names_callers, refuse_caller
from sidecall.kernel.pipeline.result_schema import hold_result, promises_value
from sidecall.kernel.pipeline.run_callbacks import has_callbacks, run_on_end, run_on_error, run_on_start
from sidecall.kernel.pipeline.stage import Stage, Stages
from sidecall.kernel.pipeline.validate import validate
from sidecall.kernel.ports.approvals.stores import ApprovalRules, Approvals


def default_stages(
    executors: Mapping[ExecutorName, Executor],
    approvals: Approvals,
    budget: Budget | None = None,
    caching: Caching | None = None,
    rules: ApprovalRules | None = None,
) -> Stages:
    """List what happens to a call, in order, and what happens from there on when a stage fails.

    These two lists are the product. What stands before them is the gate.
    """
    keep_to_budget = [] if budget is None else [Stage(budget)]
    execute, write = _plan_running(Execute(executors), caching)
    success = (
        Stage(decode),
        Stage(refuse_caller, names_callers),
        Stage(FindPrevious(approvals), may_ask),
        Stage(look_up_secrets, takes_own_secrets),
        Stage(look_up_tokens, takes_user_tokens),
        Stage(open_workspace, takes_workspace),
        Stage(inject, has_injections),
        Stage(hide_in_events, takes_secrets),
        Stage(validate),
        Stage(guard_input, has_input_guardrails),
        Stage(RequireSignIn(approvals), takes_user_tokens),
        Stage(Approve(approvals, rules), wants_approval),
        Stage(run_on_start, has_callbacks),
        execute,
        Stage(guard_output, has_output_guardrails),
        *write,
        Stage(list_files, takes_workspace),
        Stage(note_workspace, takes_workspace),
        Stage(hide_in_answer, takes_secrets),
        Stage(hold_result, promises_value),
        Stage(note_ignored, notes_ignored),
        Stage(note_deprecated, is_deprecated),
        *keep_to_budget,
        Stage(run_on_end, has_callbacks),
        Stage(leave_workspace, takes_workspace),
    )
    return Stages(success, _list_failure(approvals, rules, keep_to_budget))


def _list_failure(approvals: Approvals, rules: ApprovalRules | None, keep_to_budget: list[Stage]) -> tuple[Stage, ...]:
    return (
        Stage(wrap_unexpected),
        Stage(leave_workspace, takes_workspace),
        Stage(ApproveInside(approvals, rules)),
        Stage(RenewSignIn(approvals), takes_user_tokens),
        Stage(log_failure),
        Stage(reraise, has_way_through),
        Stage(format_failure),
        Stage(hide_in_answer, takes_secrets),
        Stage(note_ignored, notes_ignored),
        Stage(note_deprecated, is_deprecated),
        *keep_to_budget,
        Stage(run_on_error, has_callbacks),
        Stage(replay_answer),
    )


def _plan_running(execute: Execute, caching: Caching | None) -> tuple[Stage, list[Stage]]:
    """Let a tool with a cache take one stage in the place of two, where there is a server that keeps answers."""
    if caching is None:
        return Stage(execute), [Stage(format_output)]
    run_cached = Stage(RunCached(execute, caching), has_cache)
    return Stage(execute, has_no_cache), [Stage(format_output, has_no_cache), run_cached]
