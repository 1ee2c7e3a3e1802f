"""Run calls of one tool through the pipeline of a server, over what a server keeps from call to call."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from sidecall.composition.stages import default_stages
from sidecall.composition.stores import build_admission, build_ledger
from sidecall.features.approvals.decide import DecisionTerms, decide, finish, reopening
from sidecall.features.cache.answers import Caching
from sidecall.features.credentials.server_secrets import secrets_in
from sidecall.features.ledger.ledger import Ledger
from sidecall.features.ledger.opening import IN_MEMORY
from sidecall.features.sandbox.late import make_sandbox
from sidecall.features.workspaces.workspaces import Workspaces
from sidecall.kernel.core.context import EVERYTHING, Caller
from sidecall.kernel.core.errors import ApprovalConflict
from sidecall.kernel.core.invocation import CallRequest, CallServices
from sidecall.kernel.core.result_memory import ResultMemory
from sidecall.kernel.pipeline.admission import Admission
from sidecall.kernel.pipeline.batch import answer_for
from sidecall.kernel.pipeline.budget import Budget
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stage import Stages
from sidecall.kernel.ports.approvals.approval import Approval, ApprovalRequired, Decision
from sidecall.kernel.ports.contents import JSON, TEXT
from sidecall.kernel.ports.sandbox import Sandbox
from sidecall.kernel.ports.tenant_store import ItemStore, Store, SyncStore
from sidecall.kernel.registry import Registry
from sidecall.kernel.rest.answers import content_url
from sidecall.kernel.rest.dialects import read_call
from sidecall.settings import Settings
from sidecall.testing.answers import Answer, EventRecorder, PendingApproval
from sidecall.testing.executors import make_passing
from sidecall.testing.supplies import GivenSecrets, GivenTokens, choose_lookup, make_workspaces


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
        request = CallRequest(sent.call, supplies.caller, state, context, supplies.headers, wants_value=True)
        async with self._open() as (pipeline, events):
            try:
                return events.finish(await pipeline.run(request))
            except ApprovalRequired as waiting:
                return self._wait(request, waiting, events)

    async def decide(self, approval_id: str, decision: Decision, by: str) -> Answer:
        """Carry out a person's decision about a call that waits."""
        person, terms = Caller(by, self._supplies.caller.tenant, EVERYTHING), DecisionTerms(rules=self._ledger.rules)
        async with self._open() as (pipeline, events):
            decided = await decide(pipeline, self._ledger.approvals, approval_id, decision, person, terms)
            return self._show(decided, events)

    async def sign_in(self, approval: Approval, token: str) -> Answer:
        """Go on with a call that waits for a sign-in, as a server does once the person has signed in."""
        if approval.sign_in is None:
            raise ApprovalConflict("The call waits for a decision, not for a sign-in.")
        approvals = self._ledger.approvals
        call = (await approvals.get(approval.id)).require_pending()
        self._supplies.tokens.known[approval.sign_in.provider] = token
        request = call.to_request().copy_with(resumes=approval.id)
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
        budget = Budget(self._settings.max_content_bytes, self._keep, self._results)
        caching, ledger = Caching(timeout=self._settings.tool_timeout), self._ledger
        executors = make_passing(self._settings, self._registry)
        return default_stages(executors, ledger.approvals, budget, caching, ledger.rules)

    def _gather_services(self, sandbox: Sandbox) -> CallServices:
        secrets = self._supplies.secrets
        return CallServices(
            store=self.store,
            secrets=choose_lookup(secrets, secrets_in(self._settings.secrets_dir)),
            abandon=self._admission.abandon,
            results=self._results,
            contents=self._ledger.contents,
            own_secrets=secrets,
            user_tokens=self._supplies.tokens,
            sandbox=sandbox,
            workspaces=self.workspaces,
        )

    async def _keep(self, body: str | bytes, caller: Caller) -> str | None:
        kept = await self._ledger.contents.keep(body, caller, TEXT if isinstance(body, str) else JSON)
        return content_url(kept)
