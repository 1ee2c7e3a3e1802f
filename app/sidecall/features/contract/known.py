"""Present and former contracts of tools."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from sidecall.features.contract.lock import LockedTool, compare_tool, lock_tool
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.forms.definitions import hash_definition

if TYPE_CHECKING:
    from sidecall.features.contract import compare as _compare

# How many former contracts of a tool are kept.
_MOST = 4


class KnownContracts:
    """The contracts of tools: the present ones, those before a reload, and the locked ones.

    Nothing is computed before a call asks for it.
    """

    def __init__(self) -> None:
        self._hashes: dict[str, tuple[CompiledTool, str]] = {}
        self._before: dict[str, tuple[CompiledTool, ...]] = {}
        self._locked: Mapping[str, LockedTool] = {}

    def learn(self, locked: Mapping[str, LockedTool]) -> None:
        """Add the locked contracts to those that callers may know."""
        self._locked = locked

    def follow(self, old: Mapping[str, CompiledTool], new: Mapping[str, CompiledTool]) -> None:
        """Note which tools replace others."""
        changed = {name: tool for name, tool in old.items() if name in new and new[name] is not tool}
        kept = {name: before for name, before in self._before.items() if name in new}
        self._before = kept | {name: (tool, *kept.get(name, ()))[:_MOST] for name, tool in changed.items()}
        self._hashes = {}

    def find_hash(self, tool: CompiledTool) -> str:
        """Return the hash of a tool, which is worked out once."""
        known = self._hashes.get(tool.name)
        if known is None or known[0] is not tool:
            known = self._hashes[tool.name] = tool, hash_definition(tool)
        return known[1]

    def explain(self, tool: CompiledTool, hashes: Iterable[str]) -> "list[_compare.Change] | None":
        """List how a tool has changed since it had one of these hashes; None where none of them is known."""
        wanted = frozenset(hashes)
        old = next((it for it in self._list_known(tool.name) if it.hash in wanted), None)
        return None if old is None else compare_tool(old, lock_tool(tool))

    def _list_known(self, name: str) -> list[LockedTool]:
        before = [lock_tool(tool) for tool in self._before.get(name, ())]
        return before if name not in self._locked else [*before, self._locked[name]]
