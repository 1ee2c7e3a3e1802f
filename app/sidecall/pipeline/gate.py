"""What stands before the stages: a call is looked up, counted, seen and let in, once."""

from dataclasses import dataclass

from sidecall.core.errors import ToolNotFound
from sidecall.core.invocation import CallRequest
from sidecall.core.messages import ToolMessage
from sidecall.core.observer import Observer
from sidecall.core.overload import QuotaExceeded
from sidecall.core.tool import CompiledTool
from sidecall.pipeline.admission import Admission
from sidecall.pipeline.format import refuse
from sidecall.pipeline.outcome import find_outcome_of_error
from sidecall.pipeline.plan import Plan, Plans
from sidecall.pipeline.quotas import Quotas
from sidecall.pipeline.visible import is_visible, visible
from sidecall.registry import Registry, find_nearest


@dataclass(slots=True)
class Ticket:
    """A call that was let in, and the place that it holds.

    `waited` is in seconds.
    """

    request: CallRequest
    plan: Plan
    waited: float
    admission: Admission
    is_left: bool = False

    def leave(self) -> None:
        """Return the place, unless that has been done."""
        if not self.is_left:
            self.is_left = True
            self.admission.leave(self.plan.semaphores, self.request.caller)


class Gate:
    """Let calls in, and refuse those that there is no tool, no quota or no place for."""

    def __init__(self, registry: Registry, plans: Plans, admission: Admission, observer: Observer) -> None:
        self._registry = registry
        self._plans = plans
        self._admission = admission
        self._quotas = admission.quotas
        self._observer = observer

    async def enter(self, request: CallRequest) -> Ticket | ToolMessage:
        """Return a ticket, which has to be left; or the answer, where its caller sees no tool of that name.

        Raises:
            QuotaExceeded: The caller has made as many calls as it may.
            TooManyCalls: The caller has too many calls running already.
            Overloaded: No more calls may wait, or the wait was too long.
        """
        tool = self._registry.get(request.call.name)
        # A call that a person has approved was counted when it came.
        if self._quotas is not None and not request.approved:
            self._count(self._quotas, request, tool)
        if tool is None or not (tool.options.is_enabled is True or await is_visible(tool, request.caller)):
            self._observer.refuse(request, "unknown_tool")
            return refuse(await self.explain_missing(request, tool), request.call)
        plan = self._plans.of(tool)
        try:
            waited = 0.0
            if not self._admission.enter_at_once(plan.semaphores, request.caller):
                waited = await self._admission.enter(plan.semaphores, request.caller, request.deadline)
        except BaseException as error:
            self._observer.refuse(request, find_outcome_of_error(error), tool)
            raise
        return Ticket(request, plan, waited, self._admission)

    def _count(self, quotas: Quotas, request: CallRequest, tool: CompiledTool | None) -> None:
        try:
            quotas.take(request.caller)
        except QuotaExceeded:
            self._observer.refuse(request, "overloaded", tool)
            raise

    async def explain_missing(self, request: CallRequest, hidden: CompiledTool | None = None) -> ToolNotFound:
        """Make the failure that names the tools which there are for this caller; `hidden` is known to be none."""
        name = request.call.name
        others = (tool for tool in self._registry if tool is not hidden)
        names = [tool.name for tool in await visible(others, request.caller)]
        return ToolNotFound(name, names, find_nearest(name, names))
