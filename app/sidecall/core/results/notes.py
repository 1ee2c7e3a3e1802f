"""What the server itself has to tell a model beside an answer."""

from sidecall.core.messages import ToolMessage

IGNORED, WORKSPACE = "ignored_note", "workspace_note"


def find_note(message: ToolMessage) -> str | None:
    """Return the lines about dropped arguments, and a workspace that is full or gone; None where there are none."""
    notes = [note for name in (IGNORED, WORKSPACE) if (note := message.response_metadata.get(name)) is not None]
    return "\n".join(notes) or None
