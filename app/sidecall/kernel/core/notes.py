"""Notes that the server adds to an answer for the model."""

from sidecall.kernel.core.messages import ToolMessage

IGNORED, WORKSPACE, RESULT = "ignored_note", "workspace_note", "result_note"


def find_note(message: ToolMessage) -> str | None:
    """Return the notes on dropped arguments, the workspace and the result; None if there are none."""
    notes = [note for name in (IGNORED, WORKSPACE, RESULT) if (note := message.response_metadata.get(name)) is not None]
    return "\n".join(notes) or None
