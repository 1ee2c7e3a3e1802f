"""The stages for the calls of one tool, computed once."""

from collections.abc import Iterable
from dataclasses import dataclass
from inspect import isfunction
from typing import Any

from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.admission import Admission, Semaphores
from sidecall.kernel.pipeline.stage import Stage, Stages, Step


@dataclass(frozen=True, slots=True)
class Plan:
    """The stages for the calls of one tool, without those it does not need."""

    tool: CompiledTool
    semaphores: Semaphores
    success: tuple[Step, ...]
    failure: tuple[Step, ...]


class Plans:
    """Caches a plan for each tool, until a new tool of its name is called."""

    def __init__(self, stages: Stages, admission: Admission) -> None:
        self._stages = stages
        self._admission = admission
        self._plans: dict[str, Plan] = {}

    def of(self, tool: CompiledTool) -> Plan:
        """Return the plan of a tool."""
        plan = self._plans.get(tool.name)
        if plan is None or plan.tool is not tool:
            plan = self._plans[tool.name] = Plan(
                tool,
                self._admission.semaphores(tool),
                _choose(self._stages.success, tool),
                _choose(self._stages.failure, tool),
            )
        return plan


def name_step(step: Step) -> str:
    """Return the name of a step: of its function, or of its object's class."""
    owner = getattr(step, "__self__", None)
    return getattr(step, "__name__", "") if owner is None else type(owner).__name__


def _choose(stages: Iterable[Stage], tool: CompiledTool) -> tuple[Step, ...]:
    return tuple(_bind(stage.run) for stage in stages if stage.wanted(tool))


def _bind(step: Any) -> Step:
    """Return the `__call__` method of an object, to avoid its look-up on every call."""
    bound: Step = step if isfunction(step) else step.__call__
    return bound
