"""The pipeline of every call: the gate, then the stages in order, then a ToolMessage; and the calls that run."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from typing import Any

from msgspec import Struct

from sidecall.kernel.concurrency.coroutines import cancel_from_outside
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import ErrorKind, MissingContext, ToolFailure
from sidecall.kernel.core.invocation import CallRequest, Invocation, new_invocation
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.native_results import settle_item
from sidecall.kernel.core.result_memory import ResultMemory
from sidecall.kernel.core.services import NO_SERVICES, CallServices
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.pipeline.arguments import decode, inject, try_arguments
from sidecall.kernel.pipeline.batch import BatchThrottle
from sidecall.kernel.pipeline.dry_run import DryRunResult, run_dry
from sidecall.kernel.pipeline.gate import Gate, Plan, Plans, Ticket, find_outcome
from sidecall.kernel.pipeline.hooks import NO_CONTEXT, is_visible, visible
from sidecall.kernel.pipeline.stage import Stages, Step
from sidecall.kernel.ports.approvals.rules import ApprovalRule, ApprovedByRule
from sidecall.kernel.ports.observer import CurrentCall, Observer
from sidecall.kernel.ports.workspaces import require_conversation
from sidecall.kernel.registry import Registry


class RunningCall(Struct):
    """A call that waits in its task.

    `failure` is how it fails if it is cancelled; `is_ending` says that it fails already. `ended` has its answer in the
    end, None for a call that ends without one.
    """

    invocation: Invocation
    task: asyncio.Task[object] | None
    failure: ToolFailure | None = None
    is_ending: bool = False
    ended: asyncio.Future[ToolMessage | None] | None = None

    def fail(self, error: BaseException) -> None:
        """Have the call fail with an error; one that was cancelled fails with the reason, and its task goes on."""
        self.is_ending = True
        if self.failure is not None and isinstance(error, asyncio.CancelledError):
            self._go_on()
            error = self.failure
        self.invocation.fail(error)

    def _go_on(self) -> None:
        """Take the cancellation back from the task, which has a client to answer."""
        if self.task is not None:
            self.task.uncancel()
            self.task = None

    def end(self) -> None:
        """Tell who has cancelled the call that it has ended."""
        if self.ended is not None:
            self._go_on()  # Its tool has gone on in spite of it.
            self.ended.set_result(self.invocation.message)


class CallsInFlight:
    """Calls that run for their clients; remembered ones have an entry of their own, and are left out.

    A call that never waits is over before anybody could ask for it, so only those that do are noted.
    """

    def __init__(self) -> None:
        """Start with none."""
        self._running: dict[str, RunningCall] = {}

    def enter(self, invocation: Invocation) -> RunningCall:
        """Note a call, in its task."""
        running = RunningCall(invocation, asyncio.current_task())
        if invocation.request.job is None:
            self._running[invocation.id] = running
        return running

    def leave(self, running: RunningCall) -> None:
        """Note that a call has ended."""
        if self._running.get(running.invocation.id) is running:
            del self._running[running.invocation.id]
        running.end()

    def list(self) -> list[Invocation]:
        """Return the calls, the oldest first."""
        return [running.invocation for running in self._running.values()]

    def get(self, call_id: str) -> Invocation | None:
        """Return a call; None if it does not run here."""
        running = self._running.get(call_id)
        return None if running is None else running.invocation

    def cancel(self, call_id: str, failure: ToolFailure) -> asyncio.Future[ToolMessage | None] | None:
        """Cancel a call: its client gets this failure; return what becomes its answer, None if it ends already."""
        running = self._running.get(call_id)
        if running is None or running.task is None or (running.is_ending and running.ended is None):
            return None
        if running.ended is None:
            running.failure, running.ended = failure, running.task.get_loop().create_future()
            cancel_from_outside(running.task)
        return running.ended


# An answer that is there already, or what has to be awaited for it.
Answering = ToolMessage | Coroutine[Any, Any, ToolMessage]


# What is read of a call's answer, where it has none.
_UNSAID: Mapping[str, Any] = {"additional_kwargs": {}, "status": None}
# Bytes of results that are kept where a server says nothing of it.
_MOST_RESULTS = 16 * 1024 * 1024


class Pipeline:
    """Takes calls through the gate and the stages; REST, batches, MCP and in-process calls all use it."""

    def __init__(
        self,
        registry: Registry,
        stages: Stages,
        default_timeout: float | None = None,
        services: CallServices = NO_SERVICES,
        admission: Admission | None = None,
        observer: Observer | None = None,
    ) -> None:
        admission = admission or Admission(Limits())
        self._registry = registry
        # Returns a tool by its name.
        self.find: Callable[[str], CompiledTool | None] = registry.get
        self._default_timeout = default_timeout
        self.services = services
        self._observer: Observer = observer or CurrentCall()
        self._admission = admission
        self.in_flight = CallsInFlight()
        self.portions = BatchThrottle()
        # The memory of results that are on their way.
        self.results = ResultMemory(_MOST_RESULTS) if services.results is None else services.results
        self.plans = Plans(stages, admission)
        self.gate = Gate(registry, self.plans, admission, self._observer)

    async def run(self, request: CallRequest) -> ToolMessage:
        """Run a call of the tool that it names.

        Raises:
            Overloaded: There is no room for the call, or its caller may make no more.
            MissingContext: The caller, not the model, left something out.
            ApprovalRequired: A person has to approve the call.
            ToolCallFailed: The tool failed, and its author wants the caller to see that.
            GuardrailTripped: A guardrail refuses the request.
        """
        came = self.begin(request)
        return came if isinstance(came, ToolMessage) else await came

    def begin(self, request: CallRequest, tool: CompiledTool | None = None) -> Answering:
        """Answer a call at once, or return an awaitable, to be awaited in the same task and first of all.

        Most calls need not wait, and each coroutine costs. `tool` is the result of a look-up for this call, if one was
        made. Raises what `run` raises.
        """
        begun = self.gate.begin(request, tool)
        if not isinstance(begun, Plan):
            return self._enter_and_answer(begun)
        invocation = new_invocation(request, begun.tool, self._default_timeout, self.services)
        return self._take(begun, invocation, self._admission)

    async def _enter_and_answer(self, begun: Awaitable[Ticket | ToolMessage]) -> ToolMessage:
        entered = await begun
        return await self.answer(entered) if isinstance(entered, Ticket) else entered

    async def answer(self, ticket: Ticket) -> ToolMessage:
        """Answer a call that has passed the gate, and return its slot; raises what `run` raises, except Overloaded."""
        invocation = self._accept(ticket.request, ticket.plan.tool)
        invocation.waited = ticket.waited
        ticket.hand_over()
        came = self._take(ticket.plan, invocation, ticket.admission)
        return came if isinstance(came, ToolMessage) else await came

    async def invoke(self, tool: CompiledTool, request: CallRequest) -> Invocation:
        """Take a call of this tool through the stages; the returned invocation has its message."""
        invocation = self._accept(request, tool)
        came = self._take(self.plans.of(tool), invocation)
        if not isinstance(came, ToolMessage):
            await came
        return invocation

    def _accept(self, request: CallRequest, tool: CompiledTool) -> Invocation:
        return new_invocation(request, tool, self._default_timeout, self.services)

    def _take(self, plan: Plan, invocation: Invocation, admission: Admission | None = None) -> Answering:
        """Take a call through its stages; if one waits, return an awaitable for the rest.

        With an admission the call holds a slot there, which is returned at its end.
        """
        waits: Awaitable[Any] | None = None
        try:
            begun = self._observer.begin(invocation)
            steps = iter(plan.success)
            try:
                for step in steps:
                    waits = step(invocation)
                    if waits is not None:
                        return self._take_rest(plan, invocation, admission, begun, waits, steps)
            except BaseException as error:
                invocation.fail(error)
            if invocation.error is not None:
                steps = iter(plan.failure)
                waits = _begin_failure(steps, invocation)
                if waits is not None or isinstance(invocation.error, ApprovedByRule):
                    rest = waits = self._take_rest(plan, invocation, admission, begun, waits, steps)
                    return rest
            return self._end(invocation, begun)
        finally:
            if waits is None and admission is not None:
                admission.leave(plan.semaphores, invocation.request.sender.caller)
                # Its traceback holds the frames in which the invocation stands, and would so hold itself.
                invocation.error = None

    async def _take_rest(
        self,
        plan: Plan,
        invocation: Invocation,
        admission: Admission | None,
        begun: Any,
        waits: Awaitable[None] | None,
        steps: Iterator[Step],
    ) -> ToolMessage:
        """Continue with a waiting stage and the later ones; they are those of failure for a call that has failed."""
        running = self.in_flight.enter(invocation)
        try:
            if invocation.error is not None:
                await _fail_over(plan, running, waits, steps)
            elif waits is not None and not await _take_waiting(running, waits, steps):
                await _fail_over(plan, running, None, iter(plan.failure))
            return self._end(invocation, begun)
        finally:
            self.in_flight.leave(running)
            if admission is not None:
                admission.leave(plan.semaphores, invocation.request.sender.caller)
                invocation.error = None

    def _end(self, invocation: Invocation, begun: Any) -> ToolMessage:
        """Tell observers how a call ended, and return its answer or raise its error."""
        message = invocation.message
        said = _UNSAID if message is None else message.__dict__  # At once, since a model looks far for each attribute.
        if invocation.share is not None or said["additional_kwargs"] or invocation.request.call.item is not None:
            _settle(invocation)
        is_success = invocation.error is None and said["status"] == "success"
        self._observer.end(invocation, begun, "success" if is_success else find_outcome(invocation))
        if message is None:
            raise invocation.pop_error()
        return message

    async def check(self, request: CallRequest) -> ToolFailure | None:
        """Return why a call's arguments would be refused, without running it.

        Raises:
            MissingContext: The caller left something out.
        """
        tool = self._registry.get(request.call.name)
        if tool is None:
            return await self.gate.explain_missing(request)
        invocation = self._accept(request, tool)
        for step in self.plans.of(tool).resolve:
            waits = step(invocation)
            if waits is not None:
                await waits
        return await try_arguments(invocation)

    async def dry_run(self, request: CallRequest) -> DryRunResult:
        """Dry-run a call; raises what `run` raises, except ApprovalRequired."""
        entered = await self.gate.enter(request)
        if not isinstance(entered, Ticket):
            return DryRunResult(message=entered)
        invocation = self._accept(request, entered.plan.tool)
        try:
            return await run_dry(invocation, entered.plan.success, entered.plan.foresee)
        except BaseException as error:
            invocation.fail(error)
            await _take_failure(iter(entered.plan.failure), invocation)
        finally:
            entered.leave()
        if invocation.message is None:
            raise invocation.pop_error()
        return DryRunResult(message=invocation.message)

    async def find_missing(self, request: CallRequest) -> MissingContext | None:
        """Return the first thing that its caller, not the model, left out of the call; None if nothing is missing."""
        try:
            require_conversation(request.sender.headers, request.context)
        except MissingContext as unusable:
            return unusable
        tool = self._registry.get(request.call.name)
        if tool is None or not tool.injections or not await is_visible(tool, request.sender.caller, request.context):
            return None
        try:
            invocation = self._accept(request, tool)
            for require in self.plans.of(tool).require:
                require(invocation)
            waits = inject(invocation)
            if waits is not None:
                await waits
        except MissingContext as missing:
            return missing
        except Exception:
            return None  # The call itself will say it, in its place.
        return None

    async def note_end(self, request: CallRequest, message: ToolMessage, kind: ErrorKind) -> None:
        """Tell observers of a call that ends with this answer, by a person's decision."""
        tool = self._registry.get(request.call.name)
        if tool is None:
            return
        invocation = self._accept(request, tool)
        begun = self._observer.begin(invocation)
        try:
            waits = decode(invocation)
            if waits is not None:
                await waits
        finally:
            invocation.message = message
            self._observer.end(invocation, begun, kind)

    def count_unfinished(self) -> Counter[str]:
        """Count the calls of each tool whose code runs, those included that are answered and abandoned."""
        return +self._admission.abandoned_of + Counter(invocation.tool.name for invocation in self.in_flight.list())

    async def visible(self, caller: Caller, context: Mapping[str, Any] = NO_CONTEXT) -> list[CompiledTool]:
        """List the tools that this caller may call with this context, in order."""
        return await visible(self._registry, caller, context)


def _settle(invocation: Invocation) -> None:
    """Note that the result is complete, and add to its message what it repeats of the call."""
    message, request = invocation.message, invocation.request
    if message is not None:
        settle_item(message, request.call, approved=request.review.approved)
    if invocation.share is not None:
        invocation.close_share()


async def _take_waiting(running: RunningCall, waits: Awaitable[None], steps: Iterator[Step]) -> bool:
    """Take a waiting stage and the later ones; return whether none has failed."""
    invocation = running.invocation
    try:
        await waits
        for step in steps:
            more = step(invocation)
            if more is not None:
                await more
    except BaseException as error:
        running.fail(error)
        return False
    return True


async def _take_again(plan: Plan, running: RunningCall, rule: ApprovalRule) -> None:
    """Run a call again from the first stage, after a rule has approved it."""
    invocation = running.invocation
    request, services = invocation.request.copy_reviewed(approved=True, rule=rule), invocation.services
    fresh = Invocation(invocation.id, request, invocation.tool, invocation.started, invocation.deadline, services)
    fresh.waited, fresh.share, fresh.cost = invocation.waited, invocation.share, invocation.cost
    for name in Invocation.__struct_fields__:  # The same object, which is watched.
        setattr(invocation, name, getattr(fresh, name))
    running.is_ending = False
    try:
        for step in plan.success:
            waits = step(invocation)
            if waits is not None:
                await waits
    except BaseException as error:
        running.fail(error)
        await _take_failure(iter(plan.failure), invocation)


async def _fail_over(plan: Plan, running: RunningCall, waits: Awaitable[None] | None, steps: Iterator[Step]) -> None:
    """Run the failure stages, from one that waits; and those of success again if a rule has approved the call."""
    running.is_ending = True
    invocation = running.invocation
    await _take_failure(steps, invocation, waits)
    if isinstance(invocation.error, ApprovedByRule):
        await _take_again(plan, running, invocation.error.rule)


async def _take_failure(steps: Iterator[Step], invocation: Invocation, waits: Awaitable[None] | None = None) -> None:
    if waits is None:
        waits = _begin_failure(steps, invocation)
    while waits is not None:
        try:
            await waits
        except BaseException as error:
            invocation.fail(error)
        waits = _begin_failure(steps, invocation)


def _begin_failure(steps: Iterator[Step], invocation: Invocation) -> Awaitable[None] | None:
    """Run failure stages up to one that waits; return what to await for that, None once all have run."""
    for step in steps:
        try:
            waits = step(invocation)
        except BaseException as error:
            invocation.fail(error)
        else:
            if waits is not None:
                return waits
    return None
