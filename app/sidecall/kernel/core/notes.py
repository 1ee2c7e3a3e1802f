"""What the server itself has to tell a model beside an answer."""

from sidecall.kernel.core.messages import ToolMessage

IGNORED, WORKSPACE, RESULT = "ignored_note", "workspace_note", "result_note"


def find_note(message: ToolMessage) -> str | None:
    """Return the lines about dropped arguments, a workspace and the result itself; None where there are none."""
    notes = [note for name in (IGNORED, WORKSPACE, RESULT) if (note := message.response_metadata.get(name)) is not None]
    return "\n".join(notes) or None
