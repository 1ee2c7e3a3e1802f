"""The stages of an admitted call, in order."""

from sidecall.kernel.core.errors import refuse_unconfigured
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.requirements import ToolRequirements
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.arguments import decode, has_injections, inject, validate
from sidecall.kernel.pipeline.failure_policy import has_way_through, log_failure, reraise, wrap_unexpected
from sidecall.kernel.pipeline.format import format_failure, format_output, note_ignored, notes_ignored
from sidecall.kernel.pipeline.guardrails import guard_input, guard_output, has_input_guardrails, has_output_guardrails
from sidecall.kernel.pipeline.refuse_caller import names_callers, refuse_caller
from sidecall.kernel.pipeline.result_schema import hold_result, promises_value
from sidecall.kernel.pipeline.run_callbacks import has_callbacks, run_on_end, run_on_error, run_on_start
from sidecall.kernel.pipeline.stage import FailurePlace, Place, Stage, Stages, Step
from sidecall.kernel.pipeline.truncate import Truncate

# What is the same for every call is made once: a call in a test makes its own stages.
_BEFORE = (
    Stage(Place.DECODE, decode),
    Stage(Place.DECODE, refuse_caller, names_callers),
    Stage(Place.INJECT, inject, has_injections),
    Stage(Place.VALIDATE, validate),
    Stage(Place.GUARD_INPUT, guard_input, has_input_guardrails),
    Stage(Place.STARTED, run_on_start, has_callbacks),
)
# The tool runs between these.
_AFTER = (
    Stage(Place.GUARD_OUTPUT, guard_output, has_output_guardrails),
    Stage(Place.FORMAT, format_output),
    Stage(Place.ANNOTATE, hold_result, promises_value),
    Stage(Place.ANNOTATE, note_ignored, notes_ignored),
)
_END = (Stage(Place.ENDED, run_on_end, has_callbacks),)
_FAILED = (
    Stage(FailurePlace.CONTAIN, wrap_unexpected),
    Stage(FailurePlace.LOG, log_failure),
    Stage(FailurePlace.RERAISE, reraise, has_way_through),
    Stage(FailurePlace.FORMAT, format_failure),
    Stage(FailurePlace.ANNOTATE, note_ignored, notes_ignored),
)
_FAILED_END = (Stage(FailurePlace.ENDED, run_on_error, has_callbacks),)


def lacks_feature(tool: CompiledTool) -> bool:
    """Return whether a tool asks for something that the kernel does not do."""
    return _OF_KERNEL.find_lack(tool) is not None


def refuse_without_feature(invocation: Invocation) -> None:
    """Refuse a call of a tool that asks for a feature: without it, what it asks for would not happen.

    Raises:
        ToolNotConfigured: Always.
    """
    lack = _OF_KERNEL.find_lack(invocation.tool) or "it needs a feature"
    raise refuse_unconfigured(invocation.tool.name, invocation.call.id, lack)


_OF_KERNEL = ToolRequirements()
_ALONE = (Stage(Place.DECODE, refuse_without_feature, lacks_feature),)


def kernel_stages(execute: Step, budget: Truncate | None = None, *, has_features: bool = False) -> Stages:
    """List the stages of a call in order, and those that run once a stage fails; features add theirs.

    These two lists are the product. The gate comes before them.

    Args:
        execute: Runs the tool, and stores its result in the invocation.
        budget: How much of it models read; without one it is not cut.
        has_features: Whether features add theirs. Else calls of tools that ask for one are refused.
    """
    cut = () if budget is None else (Stage(Place.TRUNCATE, budget),)
    cut_failure = () if budget is None else (Stage(FailurePlace.TRUNCATE, budget),)
    return Stages(
        (*(() if has_features else _ALONE), *_BEFORE, Stage(Place.EXECUTE, execute), *_AFTER, *cut, *_END),
        (*_FAILED, *cut_failure, *_FAILED_END),
    )
