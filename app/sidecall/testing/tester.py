"""Call one tool in a test as a server does, without one."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from inspect import isclass, isfunction
from types import ModuleType
from typing import Any

from sidecall.authoring.inputs import new_call_id
from sidecall.composition.executors import build_executors, refuse_unfit
from sidecall.composition.local_pipeline import default_stages
from sidecall.composition.stores import build_admission, build_ledger
from sidecall.features.approvals.decide import DecisionTerms, decide, finish, reopening
from sidecall.features.approvals.record import Decision
from sidecall.features.cache.answers import Caching
from sidecall.features.credentials.server_secrets import secrets_in
from sidecall.features.ledger.ledger import Ledger
from sidecall.features.ledger.open_ledger import IN_MEMORY
from sidecall.features.sandbox.feature import make_sandbox
from sidecall.features.store.item_store import ItemStore
from sidecall.features.workspaces.workspace import Workspace
from sidecall.features.workspaces.workspaces import Workspaces
from sidecall.kernel.core.context import ANONYMOUS, EVERYTHING, Caller, HeaderMap
from sidecall.kernel.core.errors import ApprovalConflict
from sidecall.kernel.core.invocation import CallRequest, Invocation
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.core.result_memory import ResultMemory
from sidecall.kernel.core.sender import Sender
from sidecall.kernel.core.services import CallServices, ToolResources
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Executor, InlineExecutor, Occupancy
from sidecall.kernel.pipeline.admission import Admission
from sidecall.kernel.pipeline.batch import answer_for
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stage import Stages
from sidecall.kernel.pipeline.truncate import Truncate
from sidecall.kernel.ports.approvals.approval import Approval, ApprovalRequired
from sidecall.kernel.ports.contents import JSON, TEXT
from sidecall.kernel.ports.sandbox import Sandbox
from sidecall.kernel.ports.store import Store, SyncStore, pick_tenant
from sidecall.kernel.ports.workspaces import HEADER
from sidecall.kernel.registry import Registry
from sidecall.loading.collect import collect_items, compile_items
from sidecall.rest.answers import content_url
from sidecall.rest.dialect_readers import read_call
from sidecall.settings import Settings
from sidecall.testing.answers import Answer, EventRecorder, PendingApproval
from sidecall.testing.bridge import shared_loop
from sidecall.testing.supplies import (
    GivenSecrets,
    GivenTokens,
    SecretValues,
    choose_lookup,
    make_workspaces,
    read_caller,
    read_secrets,
    write_json,
)


@dataclass(frozen=True, slots=True)
class PassingExecutor:
    """Makes an executor for each call, and closes it after that."""

    make: Callable[[], Executor]

    @property
    def occupancy(self) -> Occupancy:
        """Nothing runs between calls."""
        return Occupancy()

    async def start(self, _: Iterable[CompiledTool]) -> None:
        """Do nothing: each call starts its own."""

    def follow(self, _: Iterable[CompiledTool]) -> None:
        """Do nothing: tools of a test are not loaded again."""

    async def run(self, invocation: Invocation) -> Any:
        """Run the tool: return its result, or raise its exception."""
        executor = self.make()
        try:
            await executor.start([invocation.tool])
            return await executor.run(invocation)
        finally:
            await executor.close()

    async def close(self) -> None:
        """Do nothing: each call closes its own."""


def make_passing(settings: Settings, tools: Iterable[CompiledTool]) -> dict[ExecutorName, Executor]:
    """Make an executor of each kind.

    Raises:
        DefinitionError: A tool that runs in a process cannot be found there.
    """
    refuse_unfit(tools)

    def make(name: ExecutorName) -> Executor:
        return InlineExecutor() if name == "inline" else PassingExecutor(lambda: build_executors(settings)[name])

    return {name: make(name) for name in build_executors(settings)}


@dataclass(frozen=True)
class Supplies:
    """What each call comes with; `secrets` is None where the environment is asked."""

    caller: Caller
    state: Any
    context: Mapping[str, Any]
    headers: Mapping[str, str]
    secrets: GivenSecrets | None
    tokens: GivenTokens


class CallRunner:
    """Runs calls, and carries out what people decide about them.

    All calls share approvals, store, files, cached answers and limits, and may come from any event loop.
    """

    def __init__(self, registry: Registry, supplies: Supplies, store: Store | SyncStore | None) -> None:
        self._registry, self._supplies = registry, supplies
        self._settings = Settings().model_copy(update={"store": IN_MEMORY})
        self._ledger: Ledger = build_ledger(self._settings)
        self._admission: Admission = build_admission(self._settings, self._ledger)
        self._results = ResultMemory(self._settings.max_result_bytes)
        self._stages = self._list_stages()
        self.store = ItemStore(self._ledger.items) if store is None else store

    @cached_property
    def workspaces(self) -> Workspaces:
        """The files of conversations."""
        return make_workspaces(self)

    async def send(self, call: Mapping[str, Any]) -> Answer:
        """Run a call in the form of any provider."""
        sent, supplies = read_call(dict(call), self._registry), self._supplies
        state = supplies.state if sent.state is None else sent.state
        context = {**supplies.context, **sent.context}
        request = CallRequest(sent.call, Sender(supplies.headers, supplies.caller, wants_value=True), state, context)
        async with self._open() as (pipeline, events):
            try:
                return events.finish(await pipeline.run(request))
            except ApprovalRequired as waiting:
                return self._wait(request, waiting, events)

    async def decide(self, approval_id: str, decision: Decision, by: str) -> Answer:
        """Carry out a person's decision about a call that waits."""
        person, terms = Caller(by, self._supplies.caller.tenant, EVERYTHING), DecisionTerms(rules=self._ledger.rules)
        async with self._open() as (pipeline, events):
            decided, _ = await decide(pipeline, self._ledger.approvals, approval_id, decision, person, terms)
            return self._show(decided, events)

    async def sign_in(self, approval: Approval, token: str) -> Answer:
        """Go on with a call that waits for a sign-in, as a server does once the person has signed in."""
        if approval.sign_in is None:
            raise ApprovalConflict("The call waits for a decision, not for a sign-in.")
        approvals = self._ledger.approvals
        call = (await approvals.get(approval.id)).require_pending()
        self._supplies.tokens.known[approval.sign_in.provider] = token
        request = call.to_request().copy_reviewed(approval_id=approval.id)
        async with self._open() as (pipeline, events):
            await approvals.decide(approval.id, Decision(decision="approve"), self._supplies.caller.subject)
            async with reopening(approvals, approval.id):
                entered = await pipeline.gate.enter(request)
            return self._show(await finish(pipeline, approvals, request, entered, call), events)

    def _show(self, approval: Approval, events: EventRecorder) -> Answer:
        """Return the answer of a call that has waited, or what it waits for now."""
        if approval.message is not None:
            return events.finish(approval.message)
        return self._wait(CallRequest(approval.tool_call), ApprovalRequired.of(approval), events)

    def _wait(self, request: CallRequest, waiting: ApprovalRequired, events: EventRecorder) -> Answer:
        return replace(events.finish(answer_for(request, waiting)), approval=PendingApproval.of(waiting.approval, self))

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[tuple[Pipeline, EventRecorder]]:
        """Build the pipeline of one call, which says what happens to it."""
        events, sandbox = EventRecorder(), make_sandbox(self._settings)
        services, timeout = self._gather_services(sandbox), self._settings.tool_timeout
        try:
            yield Pipeline(self._registry, self._stages, timeout, services, self._admission, events), events
        finally:
            await sandbox.close()

    def _list_stages(self) -> Stages:
        budget = Truncate(self._settings.max_content_bytes, self._keep, self._results)
        caching, ledger = Caching(timeout=self._settings.tool_timeout), self._ledger
        executors = make_passing(self._settings, self._registry)
        return default_stages(executors, ledger.approvals, budget, caching, ledger.rules)

    def _gather_services(self, sandbox: Sandbox) -> CallServices:
        secrets = self._supplies.secrets
        resources = ToolResources(
            store=self.store,
            secrets=choose_lookup(secrets, secrets_in(self._settings.secrets_dir)),
            own_secrets=secrets,
            user_tokens=self._supplies.tokens,
            contents=self._ledger.contents,
            sandbox=sandbox,
            workspaces=self.workspaces,
        )
        return CallServices(resources, self._results, self._admission.abandon)

    async def _keep(self, body: str | bytes, caller: Caller) -> str | None:
        kept = await self._ledger.contents.keep(body, caller, TEXT if isinstance(body, str) else JSON)
        return content_url(kept)


class ToolTester:
    """Call a tool through the pipeline of a server: the same checks, guardrails, deadlines and errors.

    What a server keeps from call to call, a tester keeps, too: approvals, store, files, cached answers.
    """

    def __init__(  # noqa: PLR0913  what can be supplied with a call
        self,
        tool: Any,
        *,
        name: str | None = None,
        state: Any = None,
        context: Any = None,
        secrets: SecretValues | None = None,
        tokens: SecretValues | None = None,
        store: Store | SyncStore | None = None,
        caller: Caller | str | None = None,
        conversation: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """Take a tool, and what its calls come with.

        Args:
            tool: A function with `@tool`, an object of BaseTool, or what else a file of tools may offer: a toolkit, a
                Registry, a module, a list, a tool of another library. Of a class, an object is made.
            name: Which tool, where there are several.
            state: What the calling program sends as state; it has to have a form in JSON.
            context: What it sends as context: a mapping, or an object with fields.
            secrets: The server's and the caller's secrets by name; without them, the environment is asked.
            tokens: Tokens of the caller's person, by provider; without one, a call waits for the sign-in.
            store: What the tool gets as its store; an empty one if not given.
            caller: Who calls: a Caller, or the name of one with all scopes.
            conversation: The conversation of the calls, whose files are kept between them.
            headers: Headers of the request, as `ToolContext.headers` has them.

        Raises:
            DefinitionError: The tool cannot be offered.
            TypeError: That is no tool, or state and context have no form in JSON.
            LookupError: There are several tools, or none of this name.
        """
        registry, self._tool = _choose(tool, name)
        named = {} if conversation is None else {HEADER: conversation}
        known = read_secrets(secrets)
        self._caller, self._conversation = read_caller(caller, ANONYMOUS), conversation
        supplies = Supplies(
            caller=self._caller,
            state=None if state is None else write_json("state", state),
            context={} if context is None else dict(write_json("context", context)),
            headers=HeaderMap({**(headers or {}), **named}),
            secrets=None if known is None else GivenSecrets(known),
            tokens=GivenTokens(tokens),
        )
        self._runner = CallRunner(registry, supplies, store)

    @property
    def name(self) -> str:
        """The tool's name."""
        return self._tool.name

    @property
    def store(self) -> Store:
        """The store that the tool gets, to fill before a call and to look into afterwards."""
        store = pick_tenant(self._runner.store, self._caller.tenant)
        assert store is not None
        return store

    @property
    def workspace(self) -> Workspace:
        """The files of the conversation, to fill before a call and to look into afterwards.

        Raises:
            LookupError: The tester has no conversation.
        """
        if self._conversation is None:
            raise LookupError("Files belong to a conversation: ToolTester(..., conversation='chat-1') has some.")
        return self._runner.workspaces.open(self._caller.tenant, self._conversation)

    def call(self, args: Mapping[str, Any] | None = None, /, **named: Any) -> Answer:
        """Call the tool with the arguments that a model would send, and return the answer.

        Args:
            args: Arguments as a dict, also those whose names Python does not allow.
            named: Arguments by their names.

        Raises:
            RequestError: A server would refuse the request, rather than tell the model: MissingContext for a hidden
                parameter without a value, GuardrailTripped, ToolCallFailed, all of them in `sidecall.testing`.
        """
        return shared_loop().run(self.acall(args, **named))

    async def acall(self, args: Mapping[str, Any] | None = None, /, **named: Any) -> Answer:
        """Do the same as `call`, on the running event loop."""
        return await self._runner.send({"name": self.name, "args": {**(args or {}), **named}, "id": new_call_id()})

    def send(self, call: ToolCall | Mapping[str, Any]) -> Answer:
        """Send a whole call, as a model of any provider writes it: with its id, and with arguments as a text.

        Raises:
            NotAToolCall: It is none.
            RequestError: As `call` says.
        """
        return shared_loop().run(self.asend(call))

    async def asend(self, call: ToolCall | Mapping[str, Any]) -> Answer:
        """Do the same as `send`, on the running event loop."""
        return await self._runner.send(call.model_dump() if isinstance(call, ToolCall) else call)


def _choose(offered: Any, name: str | None) -> tuple[Registry, CompiledTool]:
    """Compile what is offered, and choose the tool to test."""
    made = offered() if isclass(offered) else offered
    if isinstance(made, CompiledTool):
        return Registry([made]), made
    items = collect_items(made)
    if not items:
        raise TypeError(_explain(made))
    registry = made if isinstance(made, Registry) else Registry(compile_items(items))
    tools = {tool.name: tool for tool in registry}
    if name is None and len(tools) == 1:
        return registry, next(iter(tools.values()))
    if name is None or name not in tools:
        raise LookupError(f"Say which tool with name=...: there are {', '.join(tools) or 'none'}.")
    return registry, tools[name]


def _explain(given: Any) -> str:
    if isfunction(given):
        return f"{given.__name__} is a plain function: decorate it with @tool."
    if isinstance(given, ModuleType):
        return f"The module {given.__name__} offers no tool."
    return f"{type(given).__name__} is no tool, and holds none: give what a file of tools may offer."
