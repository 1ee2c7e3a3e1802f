"""The contracts of tools: their hashes, and calls that are pinned to one."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

from sidecall.kernel.core.errors import ContractChanged
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.schema.forms.definitions import hash_definition

# How many changes an error lists.
_MOST = 20


class Change(Protocol):
    """One difference between two contracts: its location, its text, and whether it breaks callers."""

    @property
    def where(self) -> str:
        """The path of what has changed, with dots; empty for the tool itself."""

    @property
    def text(self) -> str:
        """The change in a sentence."""

    @property
    def breaks(self) -> bool:
        """Whether something that callers may have sent is refused or ignored now."""


class Contracts:
    """What is known of the contracts that the present tools had before: here nothing."""

    def follow(self, old: Mapping[str, CompiledTool], new: Mapping[str, CompiledTool]) -> None:
        """Note which tools replace others, by their names."""

    def explain(self, tool: CompiledTool, hashes: Iterable[str]) -> Sequence[Change] | None:  # noqa: ARG002
        """List how a tool has changed since it had one of these hashes; None where none of them is known."""
        return None


def hold_contract(pinned: Collection[str] | None, tool: CompiledTool, contracts: Contracts) -> None:
    """Compare a tool with the hashes that a call is pinned to.

    Raises:
        ContractChanged: It has none of them; the error lists the known changes.
    """
    if pinned is None or "*" in pinned:
        return
    now = hash_definition(tool)
    if now in pinned:
        return
    changes = contracts.explain(tool, pinned)
    if changes is None:
        said = "What has changed is not known here; GET /tools/{name} shows the tool as it is."
        raise ContractChanged(f"{tool.name} is not what the call is pinned to. {said}", hash=now)
    errors = [
        {"loc": change.where.split(".") if change.where else [], "type": _name(change.breaks), "msg": change.text}
        for change in changes[:_MOST]
    ]
    said = "; ".join(error["msg"] for error in errors)  # type: ignore[misc]  # each is a text
    raise ContractChanged(f"{tool.name} is not what the call is pinned to: {said}.", errors=errors, hash=now)


def _name(breaks: bool) -> str:
    return "breaking" if breaks else "compatible"
