"""The way of every call: look up, then the stages in order, then a ToolMessage."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sidecall.core.approval import ApprovalRequired, Approvals
from sidecall.core.context import Caller
from sidecall.core.errors import GuardrailTripped, RequestError, ToolCallFailed, ToolFailure, ToolNotFound
from sidecall.core.invocation import NOWHERE, CallRequest, Invocation, Surroundings, new_invocation
from sidecall.core.messages import ToolMessage
from sidecall.core.observer import Observer, Unobserved
from sidecall.core.options import ExecutorName
from sidecall.core.overload import Overloaded, QuotaExceeded
from sidecall.core.tool import CompiledTool
from sidecall.executors.base import Executor
from sidecall.pipeline.admission import Admission, Gates, Limits
from sidecall.pipeline.approve import Approve, wants_approval
from sidecall.pipeline.budget import Budget
from sidecall.pipeline.decode import decode
from sidecall.pipeline.execute import Execute
from sidecall.pipeline.format import format_failure, format_output, refuse
from sidecall.pipeline.guard import guard_input, guard_output, has_input_guardrails, has_output_guardrails
from sidecall.pipeline.handle import goes_through, let_through
from sidecall.pipeline.inject import has_injections, inject
from sidecall.pipeline.isolate import answer_for
from sidecall.pipeline.outcome import outcome_of, outcome_of_error
from sidecall.pipeline.quotas import Quotas
from sidecall.pipeline.stage import Stage
from sidecall.pipeline.tell import has_callbacks, tell_end, tell_error, tell_start
from sidecall.pipeline.together import together
from sidecall.pipeline.validate import validate
from sidecall.pipeline.visible import is_visible, visible
from sidecall.registry import Registry, find_nearest
from sidecall.telemetry import log_failure

Ready = Callable[[int, ToolMessage], None]


def _ignore(_index: int, _message: ToolMessage) -> None:
    pass


def default_stages(
    executors: Mapping[ExecutorName, Executor], approvals: Approvals, budget: Budget | None = None
) -> tuple[Stage, ...]:
    """List what happens to a call, in order. This list is the product."""
    return (
        Stage(decode),
        Stage(inject, has_injections),
        Stage(validate),
        Stage(guard_input, has_input_guardrails),
        Stage(Approve(approvals), wants_approval),
        Stage(tell_start, has_callbacks),
        Stage(Execute(executors)),
        Stage(guard_output, has_output_guardrails),
        Stage(format_output),
        *([] if budget is None else [Stage(budget, after_failure=True)]),
        Stage(tell_end, has_callbacks),
    )


Steps = tuple[Callable[[Invocation], Awaitable[None]], ...]


@dataclass(frozen=True, slots=True)
class _Plan:
    """Hold what the calls of one tool go through, worked out once."""

    tool: CompiledTool
    gates: Gates
    stages: Steps
    after_failure: Steps


async def _take(invocation: Invocation, plan: _Plan) -> None:
    try:
        for stage in plan.stages:
            await stage(invocation)
    except ToolFailure as failure:
        log_failure(invocation, failure)
        if goes_through(invocation, failure):
            raise await let_through(invocation, failure) from failure
        await format_failure(invocation, failure)
        for stage in plan.after_failure:
            await stage(invocation)
        await tell_error(invocation, failure)


class Pipeline:
    """Take calls through the stages; every door of the server (REST, batch, in-process) leads here."""

    def __init__(
        self,
        registry: Registry,
        stages: Sequence[Stage],
        default_timeout: float | None = None,
        surroundings: Surroundings = NOWHERE,
        admission: Admission | None = None,
        observer: Observer | None = None,
    ) -> None:
        self._registry = registry
        self._stages = tuple(stages)
        self._default_timeout = default_timeout
        self._surroundings = surroundings
        self._admission = admission or Admission(Limits())
        self._quotas = self._admission.quotas
        self._observer: Observer = observer or Unobserved()
        self._plans: dict[str, _Plan] = {}

    async def run(self, request: CallRequest) -> ToolMessage:
        """Answer a call by the name it asks for.

        Raises:
            MissingContext: The caller, not the model, left something out.
            ApprovalRequired: A person has to approve the call.
            ToolCallFailed: The tool failed, and its author wants the caller to see that.
            GuardrailTripped: A guardrail refuses the request.
            Overloaded: There is no room for the call.
        """
        tool = self._registry.get(request.call.name)
        if self._quotas is not None:
            self._count(self._quotas, request, tool)
        if tool is None or not (tool.options.is_enabled is True or await is_visible(tool, request.caller)):
            return await self._not_found(request)
        plan = self._plan(tool)
        try:
            waited = await self._admission.enter(plan.gates, request.caller, request.deadline)
        except BaseException as error:
            self._observer.refused(request, outcome_of_error(error), tool)
            raise
        try:
            invocation = await self._invoke(plan, request, waited)
        finally:
            self._admission.leave(plan.gates, request.caller)
        # Its traceback holds the frames in which the invocation stands, and would so hold itself.
        invocation.failure = None
        assert invocation.message is not None
        return invocation.message

    def _count(self, quotas: Quotas, request: CallRequest, tool: CompiledTool | None) -> None:
        # A call that a person has approved was counted when it came.
        if request.approved:
            return
        try:
            quotas.take(request.caller)
        except QuotaExceeded:
            self._observer.refused(request, "overloaded", tool)
            raise

    async def turn_away(self, request: CallRequest) -> None:
        """Refuse now what `run` would refuse at once, for answers whose status is sent before the call runs.

        Raises:
            Overloaded: There is no room for the call, or the caller has no calls left.
        """
        tool = self._registry.get(request.call.name)
        if self._quotas is not None and not self._quotas.left(request.caller).left:
            self._count(self._quotas, request, tool)
        if tool is None or not await is_visible(tool, request.caller):
            return
        try:
            self._admission.turn_away(self._plan(tool).gates, request.caller)
        except Overloaded:
            self._observer.refused(request, "overloaded", tool)
            raise

    async def invoke(self, tool: CompiledTool, request: CallRequest) -> Invocation:
        """Take a call of this tool through the stages; the invocation it returns has its message."""
        return await self._invoke(self._plan(tool), request, 0.0)

    async def _invoke(self, plan: _Plan, request: CallRequest, waited: float) -> Invocation:
        invocation = new_invocation(request, plan.tool, self._default_timeout, self._surroundings)
        invocation.waited = waited
        begun = self._observer.begin(invocation)
        try:
            await _take(invocation, plan)
        except BaseException as error:
            self._observer.end(begun, outcome_of_error(error))
            # The caller is told by a status code, or is gone; who listens to the tool has to know all the same.
            if invocation.is_told or isinstance(error, (ToolCallFailed, GuardrailTripped)):
                await tell_error(invocation, error)
            raise
        self._observer.end(begun, outcome_of(invocation))
        return invocation

    def _plan(self, tool: CompiledTool) -> _Plan:
        """Find what this tool's calls go through, without the stages that it does not need."""
        plan = self._plans.get(tool.name)
        if plan is None or plan.tool is not tool:
            wanted = [stage for stage in self._stages if stage.wanted(tool)]
            plan = self._plans[tool.name] = _Plan(
                tool,
                self._admission.gates(tool),
                tuple(stage.run for stage in wanted),
                tuple(stage.run for stage in wanted if stage.after_failure),
            )
        return plan

    async def check(self, request: CallRequest) -> ToolFailure | None:
        """Say why a call's arguments would be refused, without running it.

        Raises:
            MissingContext: The caller left something out.
        """
        tool = self._registry.get(request.call.name)
        if tool is None:
            return await self._unknown(request)
        invocation = new_invocation(request, tool, self._default_timeout, self._surroundings)
        try:
            for stage in (decode, inject, validate):
                await stage(invocation)
        except ToolFailure as failure:
            return failure
        return None

    async def run_all(self, requests: Sequence[CallRequest], ready: Ready = _ignore) -> list[ToolMessage]:
        """Answer calls, in the order they came, each alone with its failure.

        They run side by side, but for those of a sequential tool: the calls before such a one end first, and those
        after it wait for it.

        Args:
            requests: The calls.
            ready: Is told of each answer as soon as it is there, with the index of its call.
        """
        messages: list[ToolMessage] = []
        for group in self._groups(requests):
            running = (self._one_of(index, request, ready) for index, request in enumerate(group, len(messages)))
            messages += await together(running)
        return messages

    def _groups(self, requests: Sequence[CallRequest]) -> Iterator[list[CallRequest]]:
        group: list[CallRequest] = []
        for request in requests:
            tool = self._registry.get(request.call.name)
            if tool is not None and tool.options.sequential:
                yield from ([group] if group else [])
                yield [request]
                group = []
            else:
                group.append(request)
        yield group

    async def _one_of(self, index: int, request: CallRequest, ready: Ready) -> ToolMessage:
        message = await self.run_isolated(request)
        ready(index, message)
        return message

    async def run_isolated(self, request: CallRequest, *raised: type[RequestError]) -> ToolMessage:
        """Answer a call with a ToolMessage, for callers that have no status code to look at.

        Errors of the types `raised` are raised all the same.
        """
        try:
            return await self.run(request)
        except raised:
            raise
        except (RequestError, ApprovalRequired) as error:
            return answer_for(request, error)

    async def visible(self, caller: Caller) -> list[CompiledTool]:
        """List the tools that this caller may call, in order."""
        return await visible(self._registry, caller)

    async def _not_found(self, request: CallRequest) -> ToolMessage:
        self._observer.refused(request, "unknown_tool")
        return refuse(await self._unknown(request), request.call)

    async def _unknown(self, request: CallRequest) -> ToolNotFound:
        name = request.call.name
        names = [tool.name for tool in await self.visible(request.caller)]
        return ToolNotFound(name, names, find_nearest(name, names))
