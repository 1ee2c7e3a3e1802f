"""The stages of an admitted call, in order."""

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
from sidecall.kernel.pipeline.arguments import decode, has_injections, inject, validate
from sidecall.kernel.pipeline.budget import Budget
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.failure_policy import has_way_through, log_failure, reraise, wrap_unexpected
from sidecall.kernel.pipeline.format import format_failure, format_output, note_ignored, notes_ignored
from sidecall.kernel.pipeline.guard import guard_input, guard_output, has_input_guardrails, has_output_guardrails
from sidecall.kernel.pipeline.refuse_caller import names_callers, refuse_caller
from sidecall.kernel.pipeline.result_schema import hold_result, promises_value
from sidecall.kernel.pipeline.run_callbacks import has_callbacks, run_on_end, run_on_error, run_on_start
from sidecall.kernel.pipeline.stage import FailurePlace, Place, Stage, Stages
from sidecall.kernel.ports.approvals.stores import ApprovalRules, Approvals


def default_stages(
    executors: Mapping[ExecutorName, Executor],
    approvals: Approvals,
    budget: Budget | None = None,
    caching: Caching | None = None,
    rules: ApprovalRules | None = None,
) -> Stages:
    """List the stages of a call in order, and those that run once a stage fails.

    These two lists are the product. The gate comes before them.
    """
    keep_to_budget = [] if budget is None else [Stage(Place.BUDGET, budget)]
    execute, write = _plan_running(Execute(executors), caching)
    success = (
        Stage(Place.DECODE, decode),
        Stage(Place.DECODE, refuse_caller, names_callers),
        Stage(Place.RECALL, FindPrevious(approvals), may_ask),
        Stage(Place.RESOLVE, look_up_secrets, takes_own_secrets),
        Stage(Place.RESOLVE, look_up_tokens, takes_user_tokens),
        Stage(Place.OPEN, open_workspace, takes_workspace),
        Stage(Place.INJECT, inject, has_injections),
        Stage(Place.REDACT_EVENTS, hide_in_events, takes_secrets),
        Stage(Place.VALIDATE, validate),
        Stage(Place.GUARD_INPUT, guard_input, has_input_guardrails),
        Stage(Place.AUTHORIZE, RequireSignIn(approvals), takes_user_tokens),
        Stage(Place.AUTHORIZE, Approve(approvals, rules), wants_approval),
        Stage(Place.STARTED, run_on_start, has_callbacks),
        execute,
        Stage(Place.GUARD_OUTPUT, guard_output, has_output_guardrails),
        *write,
        Stage(Place.COLLECT, list_files, takes_workspace),
        Stage(Place.COLLECT, note_workspace, takes_workspace),
        Stage(Place.REDACT, hide_in_answer, takes_secrets),
        Stage(Place.ANNOTATE, hold_result, promises_value),
        Stage(Place.ANNOTATE, note_ignored, notes_ignored),
        Stage(Place.ANNOTATE, note_deprecated, is_deprecated),
        *keep_to_budget,
        Stage(Place.ENDED, run_on_end, has_callbacks),
        Stage(Place.RELEASE, leave_workspace, takes_workspace),
    )
    return Stages(success, _list_failure(approvals, rules, budget))


def _list_failure(approvals: Approvals, rules: ApprovalRules | None, budget: Budget | None) -> tuple[Stage, ...]:
    keep_to_budget = [] if budget is None else [Stage(FailurePlace.BUDGET, budget)]
    return (
        Stage(FailurePlace.CONTAIN, wrap_unexpected),
        Stage(FailurePlace.RELEASE, leave_workspace, takes_workspace),
        Stage(FailurePlace.ASK, ApproveInside(approvals, rules)),
        Stage(FailurePlace.ASK, RenewSignIn(approvals), takes_user_tokens),
        Stage(FailurePlace.LOG, log_failure),
        Stage(FailurePlace.RERAISE, reraise, has_way_through),
        Stage(FailurePlace.FORMAT, format_failure),
        Stage(FailurePlace.REDACT, hide_in_answer, takes_secrets),
        Stage(FailurePlace.ANNOTATE, note_ignored, notes_ignored),
        Stage(FailurePlace.ANNOTATE, note_deprecated, is_deprecated),
        *keep_to_budget,
        Stage(FailurePlace.ENDED, run_on_error, has_callbacks),
        Stage(FailurePlace.REPLAY, replay_answer),
    )


def _plan_running(execute: Execute, caching: Caching | None) -> tuple[Stage, list[Stage]]:
    """Replace two stages by one for a tool with a cache, where the server keeps answers."""
    if caching is None:
        return Stage(Place.EXECUTE, execute), [Stage(Place.FORMAT, format_output)]
    run_cached = Stage(Place.FORMAT, RunCached(execute, caching), has_cache)
    return Stage(Place.EXECUTE, execute, has_no_cache), [Stage(Place.FORMAT, format_output, has_no_cache), run_cached]
