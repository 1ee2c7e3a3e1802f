"""Call one tool in a test as a server does, without one."""

from collections.abc import Mapping
from inspect import isclass, isfunction
from types import ModuleType
from typing import Any

from sidecall.features.workspaces.workspace import Workspace
from sidecall.kernel.authoring.inprocess import new_call_id
from sidecall.kernel.core.context import ANONYMOUS, Caller, HeaderMap
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.tenant_store import Store, SyncStore, pick_tenant
from sidecall.kernel.ports.workspaces import HEADER
from sidecall.kernel.registry import Registry
from sidecall.loading.offers import compile_offers, list_offers
from sidecall.testing.answers import Answer
from sidecall.testing.background import shared_loop
from sidecall.testing.calls import CallRunner, Supplies
from sidecall.testing.supplies import (
    GivenSecrets,
    GivenTokens,
    SecretValues,
    read_caller,
    read_secrets,
    write_json,
)


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
    offers = list_offers(made)
    if not offers:
        raise TypeError(_explain(made))
    registry = made if isinstance(made, Registry) else Registry(compile_offers(offers))
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
