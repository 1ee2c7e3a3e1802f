"""Toolsets: the tools that each caller is offered, from a file."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from sidecall.kernel.core.context import ANONYMOUS, Caller, Toolset
from sidecall.kernel.core.errors import UnknownToolset

if TYPE_CHECKING:
    from starlette.types import Scope

    from sidecall.http.authentication import Authenticator

# Callers whose toolset is cached.
_REMEMBERED = 1024
_WILDCARDS = frozenset("*?[")


class ToolsetEntry(BaseModel, defer_build=True):
    """What the file says of one toolset."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tools: list[str] = Field(default=[], description="Names and patterns of tools.")
    tags: list[str] = Field(default=[], description="Tags; a tool needs one of them.")
    without: list[str] = Field(default=[], description="Names and patterns of tools that are left out.")
    callers: list[str] = Field(default=[], description="Names and patterns of callers who are offered no other tools.")
    tenants: list[str] = Field(default=[], description="Those of their tenants.")

    def is_for(self, caller: Caller) -> bool:
        """Return whether a caller is offered this one."""
        if not self.callers and not self.tenants:
            return False
        return _match(self.callers, caller.subject) and _match(self.tenants, caller.tenant)


def _match(patterns: list[str], name: str) -> bool:
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


class Toolsets:
    """Toolsets by name, and their callers; a caller with several gets the first one."""

    def __init__(self, entries: Mapping[str, ToolsetEntry] | None = None) -> None:
        self._followers: list[Callable[[], object]] = []
        self._take([(entry, _make(name, entry)) for name, entry in (entries or {}).items()])

    def _take(self, entries: list[tuple[ToolsetEntry, Toolset]]) -> None:
        self._entries = entries
        self._by_name = {toolset.name: toolset for _, toolset in entries}
        # Is asked for every request.
        self.assign = lru_cache(_REMEMBERED)(self._assign)

    def __len__(self) -> int:
        return len(self._entries)

    def replace(self, other: "Toolsets") -> None:
        """Take the entries of another one in place of the present ones."""
        self._take(other._entries)
        for forget in self._followers:
            forget()

    def follow(self, forget: Callable[[], object]) -> None:
        """Have a function called when callers may have other toolsets than before."""
        self._followers.append(forget)

    def list_entries(self) -> dict[str, object]:
        """Return what is said of each toolset, by name."""
        return {toolset.name: entry.model_dump() for entry, toolset in self._entries}

    def find(self, name: str) -> Toolset:
        """Find a toolset by its name.

        Raises:
            UnknownToolset: There is none.
        """
        try:
            return self._by_name[name]
        except KeyError:
            raise UnknownToolset(f"There is no toolset {name[:_SHOWN]!r}.") from None

    def find_unmet(self, tools: Mapping[str, Sequence[str]]) -> list[str]:
        """List the entries of toolsets that match none of these tools with these tags: most likely misspelt ones."""
        tags = {tag for of_tool in tools.values() for tag in of_tool}
        unmet = []
        for entry, toolset in self._entries:
            named = dict.fromkeys((*entry.tools, *entry.without))
            unmet += [
                _format_unknown(toolset.name, name)
                for name in named
                if not any(fnmatchcase(tool, name) for tool in tools)
            ]
            unmet += [f"{toolset.name} has the tag {tag!r}, which no tool has" for tag in entry.tags if tag not in tags]
            if not any(toolset.has(tool, of_tool) for tool, of_tool in tools.items()):
                unmet.append(f"{toolset.name} is empty: no tool is in it")
        return unmet

    def _assign(self, caller: Caller) -> Caller:
        """Return a caller with its toolset."""
        return next((replace(caller, toolset=it) for entry, it in self._entries if entry.is_for(caller)), caller)


# Reads the file of toolsets.
ReadToolsets = Callable[[], Toolsets]
_SHOWN = 64


def _format_unknown(toolset: str, name: str) -> str:
    why = "and there is no such tool" if _WILDCARDS.isdisjoint(name) else "which fits no tool"
    return f"{toolset} names {name!r}, {why}"


NO_TOOLSETS = Toolsets()


def _make(name: str, entry: ToolsetEntry) -> Toolset:
    return Toolset(name, tuple(entry.tools), tuple(entry.tags), tuple(entry.without))


class AnonymousAuthenticator:
    """Treat all requests as one caller, who may do everything."""

    def authenticate(self, _scope: "Scope") -> Caller:
        """Return it."""
        return ANONYMOUS


class ToolsetAuthenticator:
    """Add each caller's toolset to the result of another authenticator."""

    def __init__(self, authenticator: "Authenticator", toolsets: Toolsets) -> None:
        self._authenticator = authenticator
        self._toolsets = toolsets

    def authenticate(self, scope: "Scope") -> Caller | Awaitable[Caller]:
        """Return the caller of a request, directly or as an awaitable.

        Raises:
            RequestError: The request has no valid, unambiguous credential.
        """
        found = self._authenticator.authenticate(scope)
        return self._toolsets.assign(found) if isinstance(found, Caller) else self._wait(found)

    async def _wait(self, found: Awaitable[Caller]) -> Caller:
        return self._toolsets.assign(await found)
