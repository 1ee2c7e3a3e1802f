"""The lock file `tools.lock`: contracts of all tools, kept with the sources."""

import json
import logging
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from msgspec import Struct
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sidecall.features.contract.breaking_changes import Change, compare_parameters
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.core.tool import CompiledTool, Schema
from sidecall.kernel.schema.contracts import Contracts
from sidecall.kernel.schema.forms.definitions import hash_definition

logger = logging.getLogger("sidecall")


class InvalidLock(SidecallError):
    """The file is no lock of tools."""


class LockedTool(BaseModel, defer_build=True):
    """What callers rely on of one tool."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    hash: str
    description: str
    parameters: Schema


class _Lock(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1]
    tools: dict[str, LockedTool] = Field(default_factory=dict)


class ToolChange(Struct, frozen=True):
    """The changes of one tool."""

    tool: str
    change: Change


def lock_tool(tool: CompiledTool) -> LockedTool:
    """Return the contract of a tool for the lock file."""
    return LockedTool(
        hash=hash_definition(tool), description=tool.description, parameters=tool.declaration or tool.args_schema.flat
    )


def write_lock(tools: Iterable[CompiledTool]) -> str:
    """Write the lock file, sorted by name, so that two of them can be compared line by line."""
    locked = {tool.name: lock_tool(tool).model_dump() for tool in sorted(tools, key=lambda it: it.name)}
    return json.dumps({"version": 1, "tools": locked}, indent=2, ensure_ascii=False) + "\n"


def parse_lock(text: str) -> dict[str, LockedTool]:
    """Read a lock.

    Raises:
        InvalidLock: It is invalid.
    """
    try:
        return _Lock.model_validate_json(text).tools
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InvalidLock(f"{LOCK} is no lock of tools: {where + ': ' if where else ''}{first['msg']}.") from None


def compare_tool(old: LockedTool, new: LockedTool) -> list[Change]:
    """List the changes of a tool; none if its hash is the same."""
    if old.hash == new.hash:
        return []
    changes = compare_parameters(old.parameters, new.parameters)
    if old.description != new.description:
        changes.insert(0, Change("", "has another description", False))
    return changes or [Change("", "is written in another way", False)]


def compare_tools(locked: Mapping[str, LockedTool], tools: Iterable[CompiledTool]) -> list[ToolChange]:
    """List how tools have changed since they were locked, by their names."""
    now = {tool.name: lock_tool(tool) for tool in tools}
    found: list[ToolChange] = []
    for name in sorted(locked.keys() | now.keys()):
        if name not in now:
            found.append(ToolChange(name, Change("", "is not there any more", True)))
        elif name not in locked:
            found.append(ToolChange(name, Change("", "is new", False)))
        else:
            found += [ToolChange(name, change) for change in compare_tool(locked[name], now[name])]
    return found


# How many former contracts of a tool are kept.
_MOST = 4


class KnownContracts(Contracts):
    """The contracts of tools: the present ones, those before a reload, and the locked ones."""

    def __init__(self, locked: Mapping[str, LockedTool] = MappingProxyType({})) -> None:
        """Begin with those that callers may know of a lock file."""
        self._before: dict[str, tuple[CompiledTool, ...]] = {}
        self._locked = locked

    def follow(self, old: Mapping[str, CompiledTool], new: Mapping[str, CompiledTool]) -> None:
        """Note which tools replace others."""
        changed = {name: tool for name, tool in old.items() if name in new and new[name] is not tool}
        kept = {name: before for name, before in self._before.items() if name in new}
        self._before = kept | {name: (tool, *kept.get(name, ()))[:_MOST] for name, tool in changed.items()}

    def explain(self, tool: CompiledTool, hashes: Iterable[str]) -> list[Change] | None:
        """List how a tool has changed since it had one of these hashes; None where none of them is known."""
        wanted = frozenset(hashes)
        old = next((it for it in self._list_known(tool.name) if it.hash in wanted), None)
        return None if old is None else compare_tool(old, lock_tool(tool))

    def _list_known(self, name: str) -> list[LockedTool]:
        before = [lock_tool(tool) for tool in self._before.get(name, ())]
        return before if name not in self._locked else [*before, self._locked[name]]


# In the working directory.
LOCK = "tools.lock"


def read_locked() -> Mapping[str, LockedTool]:
    """Read the lock file in the working directory, if there is one.

    Calls pinned to a locked contract are told what has changed since; a broken lock file does not stop the start.
    """
    if not os.path.lexists(LOCK):
        return {}
    try:
        return parse_lock(Path(LOCK).read_text(encoding="utf-8"))
    except (OSError, ValueError, InvalidLock) as error:
        logger.warning("%s is not used: %s", LOCK, error)
        return {}
