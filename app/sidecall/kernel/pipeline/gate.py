"""The gate before the stages: look up the tool, count the call, check visibility and admit it, once."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import cached_property
from inspect import isfunction
from typing import Any

from msgspec import Struct

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import ContractChanged, MissingContext, RequestError, ToolFailure, ToolNotFound
from sidecall.kernel.core.invocation import CallRequest, Invocation
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.overload import QuotaExceeded
from sidecall.kernel.core.quota import Quota
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.admission import Admission, Semaphores
from sidecall.kernel.pipeline.batch import find_kind
from sidecall.kernel.pipeline.format import refuse
from sidecall.kernel.pipeline.hooks import ask_visible, is_surely_visible
from sidecall.kernel.pipeline.stage import Foresee, GateCheck, Place, Require, Stages, Step
from sidecall.kernel.pipeline.unknown_tool import MissingTools
from sidecall.kernel.ports.approvals.approval import AlreadyAnswered, ApprovalRequired
from sidecall.kernel.ports.observer import Observer, Outcome
from sidecall.kernel.ports.workspaces import FIELD, require_conversation
from sidecall.kernel.registry import Registry
from sidecall.kernel.schema.contracts import hold_contract


def find_outcome(invocation: Invocation) -> Outcome:
    """Return the outcome of a call that has passed all its stages."""
    message, error = invocation.message, invocation.error
    if error is None or isinstance(error, AlreadyAnswered):
        failed: Outcome = "rejected" if error is not None and error.approval.status == "rejected" else "tool_error"
        return failed if message is not None and message.status == "error" else "success"
    return error.kind if message is not None and isinstance(error, ToolFailure) else find_outcome_of_error(error)


def find_outcome_of_error(error: BaseException) -> Outcome:
    """Return the outcome of a call that ended with an error instead of a message."""
    if isinstance(error, (RequestError, ApprovalRequired)):
        return find_kind(error)
    return "cancelled" if isinstance(error, (asyncio.CancelledError, GeneratorExit)) else "internal_error"


class Plan(Struct, frozen=True):
    """The stages for the calls of one tool, without those it does not need."""

    tool: CompiledTool
    semaphores: Semaphores
    success: tuple[Step, ...]
    failure: tuple[Step, ...]
    checks: tuple[GateCheck, ...] = ()
    # What `Pipeline.check`, `find_missing` and `dry_run` take of the stages.
    resolve: tuple[Step, ...] = ()
    require: tuple[Require, ...] = ()
    foresee: tuple[Foresee, ...] = ()


class Plans:
    """Caches a plan for each tool, until a new tool of its name is called."""

    def __init__(self, stages: Stages, admission: Admission) -> None:
        self._stages = stages
        self.has_checks = bool(stages.checks)
        self._admission = admission
        self._plans: dict[str, Plan] = {}

    def of(self, tool: CompiledTool) -> Plan:
        """Return the plan of a tool."""
        plan = self._plans.get(tool.name)
        if plan is None or plan.tool is not tool:
            wanted = [stage for stage in self._stages.success if stage.wanted(tool)]
            plan = self._plans[tool.name] = Plan(
                tool,
                self._admission.semaphores(tool),
                tuple(_bind(stage.run) for stage in wanted),
                tuple(_bind(stage.run) for stage in self._stages.failure if stage.wanted(tool)),
                tuple(_bind(check.run) for check in self._stages.checks if check.wanted(tool)),
                tuple(_bind(stage.run) for stage in wanted if stage.place is Place.RESOLVE),
                tuple(stage.require for stage in wanted if stage.require is not None),
                tuple(stage.foresee for stage in wanted if stage.foresee is not None),
            )
        return plan


def name_step(step: Step) -> str:
    """Return the name of a step: of its function, or of its object's class."""
    owner = getattr(step, "__self__", None)
    return getattr(step, "__name__", "") if owner is None else type(owner).__name__


def _bind(step: Any) -> Any:
    """Return the `__call__` method of an object, to avoid its look-up on every call."""
    return step if isfunction(step) else step.__call__


class Ticket(Struct):
    """An admitted call and the slot that it holds. `waited` is in seconds."""

    request: CallRequest
    plan: Plan
    waited: float
    admission: Admission
    is_left: bool = False

    def hand_over(self) -> None:
        """Leave the slot to the code that takes the call through its stages."""
        assert not self.is_left
        self.is_left = True

    def leave(self) -> None:
        """Return the slot, unless that has been done or was handed over."""
        if not self.is_left:
            self.is_left = True
            self.admission.leave(self.plan.semaphores, self.request.sender.caller)


def _deny_silently(_caller: Caller, _tool: str) -> None:
    """Report no denial."""


class Gate:
    """Admits calls, and refuses those without a tool, quota or slot."""

    def __init__(self, registry: Registry, plans: Plans, admission: Admission, observer: Observer) -> None:
        self._registry = registry
        self._plans = plans
        self._admission = admission
        self._quotas = admission.quotas
        # Whether calls of every tool are counted.
        self.has_rate = admission.quotas is not None and admission.quotas.rate is not None
        self.has_checks = plans.has_checks
        self._observer = observer
        # Told of callers that lack a scope of a tool, by its name.
        self.deny: Callable[[Caller, str], None] = _deny_silently

    async def enter(self, request: CallRequest, tool: CompiledTool | None = None) -> Ticket | ToolMessage:
        """Admit a call and return its ticket, which must be left; or the answer, where its caller sees no such tool.

        `tool` is the result of a look-up for this call, if one was made.

        Raises:
            QuotaExceeded: The caller has made as many calls as it may.
            TooManyCalls: The caller has too many calls running already.
            Overloaded: No more calls may wait, or the wait was too long.
            MissingContext: Whether the tool is enabled depends on what the caller has left out, or the conversation
                cannot be one.
            ContractChanged: The tool is not what the call is pinned to.
            RequestError: A check of a feature refuses the call.
        """
        entered = self.begin_entry(request, tool)
        return entered if isinstance(entered, Ticket) else await entered

    def begin_entry(
        self, request: CallRequest, tool: CompiledTool | None = None
    ) -> Ticket | Coroutine[Any, Any, Ticket | ToolMessage]:
        """Do so at once, or return an awaitable; raises what `enter` raises."""
        begun = self.begin(request, tool)
        return Ticket(request, begun, 0.0, self._admission) if isinstance(begun, Plan) else begun

    def begin(
        self, request: CallRequest, tool: CompiledTool | None = None
    ) -> Plan | Coroutine[Any, Any, Ticket | ToolMessage]:
        """Admit a call at once and return its plan, or else an awaitable; most calls need not wait.

        A plan comes with a slot but without a ticket: the code that runs the stages returns the slot. `tool` is the
        result of a look-up for this call, if one was made.

        Raises:
            QuotaExceeded: The caller has made as many calls as it may.
            TooManyCalls: The caller has too many calls running already.
            Overloaded: No more calls may wait, or the wait was too long.
            MissingContext: Whether the tool is enabled depends on what the caller has left out, or the conversation
                cannot be one.
            ContractChanged: The tool is not what the call is pinned to.
            RequestError: A check of a feature refuses the call.
        """
        if tool is None:
            tool = self._registry.get(request.call.name)
        sender = request.sender
        caller = sender.caller
        # A header is looked at where the request comes in: most have none.
        if request.context and FIELD in request.context and request.id is None:
            self._require_conversation(request, tool)
        # A call of a record was counted when it came.
        if self.has_rate and request.id is None:
            waits = self._count(request, tool)
            if waits is not None:
                return self._enter_when_counted(waits, request, tool)
        if (
            tool is None
            or tool.options.rate is not None
            or sender.pinned is not None
            # Of most tools and callers two words say so.
            or not ((tool.options.is_for_all and caller.toolset is None) or is_surely_visible(tool, caller))
        ):
            return self._enter_if_visible(request, tool)
        plan = self._plans.of(tool)
        try:
            if plan.checks or not self._admission.enter_at_once(plan.semaphores, caller):
                return self._wait(request, plan)
        except BaseException as error:
            self._observer.refuse(request, find_outcome_of_error(error), tool)
            raise
        return plan

    def _require_conversation(self, request: CallRequest, tool: CompiledTool | None) -> None:
        try:
            require_conversation(request.sender.headers, request.context)
        except MissingContext as error:
            self._observer.refuse(request, find_outcome_of_error(error), tool)
            raise

    async def _enter_when_counted(
        self, waits: Awaitable[None], request: CallRequest, tool: CompiledTool | None
    ) -> Ticket | ToolMessage:
        with self._noting(request, tool):
            await waits
        return await self._enter_if_visible(request, tool)

    async def _enter_if_visible(self, request: CallRequest, tool: CompiledTool | None) -> Ticket | ToolMessage:
        if tool is None or not await self._see(request, tool):
            self._observer.refuse(request, "unknown_tool")
            caller = request.sender.caller
            if tool is not None and not caller.may(*tool.options.scopes):
                self.deny(caller, tool.name)
            return refuse(await self.explain_missing(request, tool), request.call)
        self.hold(request, tool)
        # Not before: that a tool has a rate says that there is one.
        if request.id is None:
            await self._count_for_tool(request, tool)
        return await self._wait(request, self._plans.of(tool))

    def hold(self, request: CallRequest, tool: CompiledTool) -> None:
        """Check that a tool still has the contract to which a call is pinned.

        Raises:
            ContractChanged: It is not.
        """
        try:
            hold_contract(request.sender.pinned, tool, self._registry.contracts)
        except ContractChanged as error:
            self._observer.refuse(request, find_outcome_of_error(error), tool)
            raise

    async def check(self, request: CallRequest, tool: CompiledTool) -> None:
        """Have a call pass the checks of features; its caller sees the tool.

        Raises:
            RequestError: One of them refuses it.
        """
        for check in self._plans.of(tool).checks:
            try:
                waits = check(request, tool)
                if waits is not None:
                    await waits
            except RequestError as error:
                self._observer.refuse(request, find_outcome_of_error(error), tool)
                raise

    async def _see(self, request: CallRequest, tool: CompiledTool) -> bool:
        try:
            return await ask_visible(tool, request.sender.caller, request.context)
        except MissingContext as error:
            self._observer.refuse(request, find_outcome_of_error(error), tool)
            raise

    async def _wait(self, request: CallRequest, plan: Plan) -> Ticket:
        await self.check(request, plan.tool)
        try:
            sender = request.sender
            waited = await self._admission.enter(plan.semaphores, sender.caller, sender.deadline)
        except BaseException as error:
            self._observer.refuse(request, find_outcome_of_error(error), plan.tool)
            raise
        return Ticket(request, plan, waited, self._admission)

    async def count(self, request: CallRequest, tool: CompiledTool) -> None:
        """Count a later call against its quota; its caller sees the tool.

        Raises:
            QuotaExceeded: The caller has made as many calls as it may.
        """
        waits = self._count(request, tool)
        if waits is not None:
            with self._noting(request, tool):
                await waits
        await self._count_for_tool(request, tool)

    def _count(self, request: CallRequest, tool: CompiledTool | None) -> Awaitable[None] | None:
        try:
            return None if self._quotas is None else self._quotas.take(request.sender.caller)
        except QuotaExceeded:  # As `_noting` does, which costs more than what stands in it.
            self._observer.refuse(request, "overloaded", tool)
            raise

    async def _count_for_tool(self, request: CallRequest, tool: CompiledTool) -> None:
        if self._quotas is None or tool.options.rate is None:
            return
        with self._noting(request, tool):
            waits = self._quotas.take(request.sender.caller, tool)
            if waits is not None:
                await waits

    @contextmanager
    def _noting(self, request: CallRequest, tool: CompiledTool | None) -> Iterator[None]:
        """Record in the invocation whose quota is used up."""
        try:
            yield
        except QuotaExceeded:
            self._observer.refuse(request, "overloaded", tool)
            raise

    def counts(self, tool: CompiledTool | None) -> bool:
        """Return whether a tool's calls are counted, by the caller's rate or the tool's."""
        return self.has_rate or (self._quotas is not None and tool is not None and tool.options.rate is not None)

    def quotas_of(self, caller: Caller, tool: str | None = None) -> tuple[Quota, ...]:
        """Return the remaining quotas of a caller."""
        if self._quotas is None:
            return ()
        return self._quotas.left(caller, None if tool is None else self._registry.get(tool))

    @cached_property
    def missing(self) -> MissingTools:
        """The explanations for unknown tools."""
        return MissingTools(self._registry)

    async def explain_missing(self, request: CallRequest, hidden: CompiledTool | None = None) -> ToolNotFound:
        """Build the failure that names the tools this caller can see; `hidden` is known not to be one."""
        return await self.missing.explain(request, hidden)
