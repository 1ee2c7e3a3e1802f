"""Refuse a call that is pinned to another contract of its tool."""

from sidecall.features.calls.errors import ContractChanged
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.registry import Registry

# How many changes an error lists.
_MOST = 20


def hold_contract(request: CallRequest, tool: CompiledTool, registry: Registry) -> None:
    """Compare a tool with the contract that a call is pinned to.

    Raises:
        ContractChanged: They differ; the error lists the known changes.
    """
    pinned = request.pinned
    if pinned is None or "*" in pinned:
        return
    now = registry.contracts.find_hash(tool)
    if now in pinned:
        return
    changes = registry.contracts.explain(tool, pinned)
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
