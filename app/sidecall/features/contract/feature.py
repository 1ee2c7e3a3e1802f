"""What the feature contract adds to a server."""

from sidecall.feature import Built, Feature, Host
from sidecall.features.contract.lock import KnownContracts, read_locked
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.pipeline.stage import FailurePlace, Place, Stage


def is_deprecated(tool: CompiledTool) -> bool:
    """Return whether a tool says what to use in its place."""
    return tool.options.deprecated is not None


def note_deprecated(invocation: Invocation) -> None:
    """Write into an answer what its tool's author says to use in its place."""
    if invocation.message is not None:
        invocation.message.response_metadata["deprecated"] = invocation.tool.options.deprecated


DEPRECATION_STAGES = tuple(
    Stage(place, note_deprecated, is_deprecated) for place in (Place.ANNOTATE, FailurePlace.ANNOTATE)
)


def _build(host: Host) -> Built:
    """Tell callers which tools are deprecated, and what has changed since the contract that a call is pinned to."""
    host.registry.contracts = KnownContracts(read_locked())
    return Built(stages=DEPRECATION_STAGES)


FEATURE = Feature(
    name="contract",
    options=frozenset({"deprecated"}),
    commands={"lock": "sidecall.features.contract.cli:lock"},
    build=_build,
)
