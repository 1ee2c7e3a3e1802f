"""The registry: the tools of this server, by name."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from msgspec import Struct

from sidecall.kernel.core.callbacks import Callback, make_callback
from sidecall.kernel.core.errors import DefinitionError, ToolAlreadyRegistered
from sidecall.kernel.core.guardrails import (
    ToolInputGuardrail,
    ToolOutputGuardrail,
    make_input_guardrail,
    make_output_guardrail,
)
from sidecall.kernel.core.options import NAMES, NativeKind
from sidecall.kernel.core.tool import Compilable, CompiledTool, find_implementers
from sidecall.kernel.json_data.text import pause_collector
from sidecall.kernel.schema.contracts import Contracts


@dataclass(frozen=True, slots=True)
class SharedHooks:
    """The callbacks and guardrails of all tools in a registry."""

    callbacks: tuple[Callback, ...]
    tool_input_guardrails: tuple[ToolInputGuardrail, ...]
    tool_output_guardrails: tuple[ToolOutputGuardrail, ...]

    def apply_to(self, tool: CompiledTool) -> CompiledTool:
        """Prepend these hooks to the tool's own; without hooks the same object is returned."""
        ours = {field.name: getattr(self, field.name) for field in fields(self)}
        if not any(ours.values()):
            return tool
        joined: dict[str, Any] = {name: _prepend(hooks, getattr(tool.options, name)) for name, hooks in ours.items()}
        return replace(tool, options=replace(tool.options, **joined))


def _prepend(hooks: tuple[Any, ...], own: tuple[Any, ...]) -> tuple[Any, ...]:
    """Prepend hooks, except those that are already present."""
    return (*(hook for hook in hooks if hook not in own), *own)


class ToolSource(Struct, frozen=True):
    """A source of tools outside the program, such as another server, and whether its tools yield to others."""

    tools: tuple[CompiledTool, ...]
    gives_way: bool


class Registry:
    """The tools of a server, in order of registration.

    Readers always see one complete set: `replace` swaps it in a single assignment, and `version` identifies it.
    `is_conditional` says that some tools are enabled per caller, `scopes` lists the scopes that tools need. `contracts`
    holds their contracts, `has_rates` says that calls of some tools are counted. The server's own unlisted tools can be
    called as well.
    """

    def __init__(
        self,
        tools: Iterable[CompiledTool | Compilable] = (),
        *,
        callbacks: Iterable[Any] = (),
        tool_input_guardrails: Iterable[Any] = (),
        tool_output_guardrails: Iterable[Any] = (),
    ) -> None:
        """Offer tools.

        Args:
            tools: In the order in which they are listed.
            callbacks: Handlers that hear of every tool's calls, before the tool's own.
            tool_input_guardrails: Judges of every tool's arguments, before the tool's own.
            tool_output_guardrails: Judges of every tool's output, before the tool's own.

        Raises:
            DefinitionError: A tool cannot be offered, or a handler or guardrail is none.
        """
        self.version = 0
        # Why the files of tools could not be loaded when they were last changed; empty where they could.
        self.load_errors: tuple[str, ...] = ()
        # Whether the tools were found by the settings, and may be looked for again.
        self.is_discovered = False
        self.is_conditional = False
        self.scopes: frozenset[str] = frozenset()
        self._hooks = SharedHooks(
            tuple(map(make_callback, callbacks)),
            tuple(map(make_input_guardrail, tool_input_guardrails)),
            tuple(map(make_output_guardrail, tool_output_guardrails)),
        )
        self.contracts = Contracts()
        # What others have worked out of the present tools, by its type; it is empty again when they change.
        self.derived: dict[type[Any], Any] = {}
        self._unlisted: Mapping[str, CompiledTool] = {}
        self._native: Mapping[NativeKind, CompiledTool] = {}
        self._aliases: Mapping[str, CompiledTool] = {}
        self._tools: dict[str, CompiledTool] = {}
        self._offered: list[CompiledTool] = []
        self._served: list[CompiledTool] = []
        # Those without a source, and those of each.
        self._own: list[CompiledTool | Compilable] = []
        self._sources: dict[str, ToolSource] = {}
        # What each tool that comes has to pass, and raises a DefinitionError.
        self.check: Callable[[CompiledTool], None] | None = None
        # How a tool that no source offers is served, as `replace` has it; it may raise a DefinitionError.
        self.adapt: Callable[[CompiledTool], CompiledTool] = _keep
        self._adapted: Callable[[CompiledTool], CompiledTool] = self.adapt
        self.replace(tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __iter__(self) -> Iterator[CompiledTool]:
        return iter(self._tools.values())

    @property
    def names(self) -> list[str]:
        """The names in order."""
        return list(self._tools)

    @property
    def offered(self) -> tuple[CompiledTool, ...]:
        """The tools as they were offered, without registry-wide hooks."""
        return tuple(self._offered)

    @property
    def given(self) -> tuple[CompiledTool | Compilable, ...]:
        """The tools as given, before they were compiled."""
        return tuple(self._own)

    @property
    def own_names(self) -> list[str]:
        """The names of tools that yield to no others."""
        return [tool.name for tool in self._offered]

    def list_source(self, source: str) -> tuple[CompiledTool, ...]:
        """List the tools of a source, without registry-wide hooks."""
        return self._sources[source].tools if source in self._sources else ()

    def get(self, name: str) -> CompiledTool | None:
        """Return a tool by its exact name, or by a provider's name for the built-in tool that it implements."""
        return self._tools.get(name) or self._unlisted.get(name) or self._aliases.get(name)

    def find_native(self, kind: NativeKind) -> CompiledTool | None:
        """Find the tool that implements a built-in tool of a provider."""
        return self._native.get(kind)

    def put_unlisted(self, tools: Iterable[CompiledTool]) -> None:
        """Register callable but unlisted tools of the server; an offered tool of the same name takes precedence."""
        self._unlisted = {tool.name: tool for tool in tools}
        self._note_rates()

    def add(self, *tools: CompiledTool | Compilable) -> None:
        """Add tools after the present ones.

        Raises:
            DefinitionError: One of them cannot be offered; nothing is changed then.
        """
        self.replace([*self._own, *tools])

    def put_source(self, source: str, tools: Iterable[CompiledTool], *, gives_way: bool = False) -> None:
        """Set the tools of a source, after all others; `replace` leaves them.

        Args:
            source: Its name.
            tools: Its tools.
            gives_way: Whether one that has the name of another is left out, instead of refused.

        Raises:
            DefinitionError: One has the name of another, or cannot be offered; nothing is changed then.
        """
        before = self._sources
        self._sources = {**before, source: ToolSource(tuple(tools), gives_way)}
        try:
            self.replace(self._own)
        except DefinitionError:
            self._sources = before
            raise

    def replace(self, tools: Iterable[CompiledTool | Compilable]) -> None:
        """Replace the present tools, except those of sources.

        Raises:
            DefinitionError: Two of them have the same name or implement the same, or one does not pass the check of
                this server; nothing is changed then.
        """
        own = list(tools)
        fresh = self.join(own)
        self._offer(fresh)
        self._own = own

    def join(self, tools: Iterable[CompiledTool | Compilable]) -> list[CompiledTool]:
        """Return the tools that would be offered with these in place of the present ones; nothing is changed.

        Raises:
            DefinitionError: Two of them have the same name or implement the same, or one does not pass the check of
                this server.
        """
        fresh: dict[str, CompiledTool] = {}
        with pause_collector():  # A tool is some thousand objects that stay.
            for offered in (*tools, *self._list_sourced(gives_way=False)):
                tool = offered if isinstance(offered, CompiledTool) else offered.compiled
                other = fresh.setdefault(tool.name, tool)
                if other is not tool:
                    fresh |= _part(other, tool)
        find_implementers(fresh.values())
        if self.check is not None:
            for tool in (*fresh.values(), *self._list_sourced(gives_way=True)):
                self.check(tool)
        return list(fresh.values())

    def _list_sourced(self, *, gives_way: bool) -> list[CompiledTool]:
        return [tool for source in self._sources.values() if source.gives_way is gives_way for tool in source.tools]

    def _offer(self, offered: list[CompiledTool]) -> None:
        # What stays is the same object as before, by which others know that nothing about it has changed.
        is_same = self._adapted is self.adapt
        known = {id(tool): self._tools[tool.name] for tool in self._served} if is_same else {}
        served: dict[str, CompiledTool] = {}
        for tool in (*offered, *self._list_sourced(gives_way=True)):
            served.setdefault(tool.name, tool)
        sourced = {id(tool) for source in self._sources.values() for tool in source.tools}
        adapted = {
            name: tool if id(tool) in known or id(tool) in sourced else self.adapt(tool)
            for name, tool in served.items()
        }
        self._offered, self._served, self._adapted = offered, list(served.values()), self.adapt
        before = self._tools
        self._tools = {
            name: known.get(id(tool)) or self._hooks.apply_to(adapted[name]) for name, tool in served.items()
        }
        self._native = find_implementers(self._tools[tool.name] for tool in offered)
        self._aliases = {NAMES[kind]: tool for kind, tool in self._native.items() if kind in NAMES}
        self.contracts.follow(before, self._tools)
        self.is_conditional = any(callable(tool.options.is_enabled) for tool in self._served)
        self.scopes = frozenset(scope for tool in self._served for scope in tool.options.scopes)
        self._note_rates()
        self.derived = {}
        self.version += 1

    def _note_rates(self) -> None:
        callable_tools = (*self._served, *self._unlisted.values())
        self.has_rates = any(tool.options.rate is not None for tool in callable_tools)


def _keep(tool: CompiledTool) -> CompiledTool:
    return tool


def _part(one: CompiledTool, two: CompiledTool) -> dict[str, CompiledTool]:
    """Prefer a tool that can be called here over a provider's own of the same name.

    Raises:
        ToolAlreadyRegistered: Both can be called, or neither.
    """
    if (one.declaration is None) == (two.declaration is None):
        raise ToolAlreadyRegistered(
            f"Two tools are called {one.name!r}: {one.source} and {two.source}. "
            f"Give one another name, for instance @tool('{one.name[:62]}_2')."
        )
    ours, hosted = (one, two) if one.declaration is None else (two, one)
    return {ours.name: ours, f"hosted_{hosted.name}": replace(hosted, name=f"hosted_{hosted.name}")}
