"""Note in answers that a tool is deprecated."""

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
