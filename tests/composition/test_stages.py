"""What happens to a call can be read in two lists."""

from inspect import ismethod

from sidecall import Cache, tool
from sidecall.composition.local_pipeline import default_stages
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.cache.answers import Caching
from sidecall.kernel.executors.base import InlineExecutor
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.pipeline.gate import Plan, Plans
from sidecall.kernel.pipeline.stage import Step
from sidecall.kernel.pipeline.truncate import Truncate


def _names(steps: tuple[Step, ...]) -> list[str]:
    return [type(step.__self__).__name__ if ismethod(step) else getattr(step, "__name__", "") for step in steps]


def _plan(budget: Truncate | None = None, caching: Caching | None = None, **options: object) -> Plan:
    stages = default_stages({"inline": InlineExecutor()}, MemoryApprovals(), budget, caching)
    offered = tool("work", description="Work.", **options)(lambda: None)  # type: ignore[call-overload]
    return Plans(stages, Admission(Limits())).of(offered.compiled)


def test_every_call_of_a_plain_tool_takes_these_stages() -> None:
    """Nothing is asked that its author did not ask for."""
    plan = _plan()

    assert _names(plan.success) == ["decode", "validate", "Execute", "format_output"]
    assert _names(plan.failure) == [
        "wrap_unexpected",
        "ApproveInside",
        "log_failure",
        "format_failure",
        "replay_answer",
    ]


def test_a_call_of_a_tool_with_a_cache_takes_one_stage_in_the_place_of_two() -> None:
    """Those of other tools do not come by it."""
    reads = {"cache": Cache(ttl=1), "annotations": {"read_only": True}}

    assert _names(_plan(caching=Caching(), **reads).success) == ["decode", "validate", "RunCached"]
    assert _names(_plan(**reads).success) == ["decode", "validate", "Execute", "format_output"]
    assert _names(_plan(caching=Caching()).success) == ["decode", "validate", "Execute", "format_output"]


def test_a_call_of_a_tool_with_everything_takes_all_stages() -> None:
    """In this order; a call that fails goes on with the second list from there."""

    class Handler:
        def on_tool_end(self, _output: object) -> None: ...

    plan = _plan(
        Truncate(100, lambda _: None),
        callbacks=[Handler()],
        tool_input_guardrails=[lambda _: None],
        tool_output_guardrails=[lambda _: None],
        requires_approval=True,
        handle_tool_error=None,
    )

    assert (
        _names(plan.success)
        == (
            "decode FindPrevious validate guard_input Approve run_on_start Execute guard_output format_output Truncate"
            " run_on_end"
        ).split()
    )
    assert (
        _names(plan.failure)
        == (
            "wrap_unexpected ApproveInside log_failure reraise format_failure Truncate run_on_error replay_answer"
        ).split()
    )
