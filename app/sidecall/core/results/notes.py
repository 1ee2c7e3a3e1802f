"""What the server itself has to tell a model beside an answer."""

from sidecall.core.messages import ToolMessage

IGNORED, FULL = "ignored_note", "workspace_note"


def find_note(message: ToolMessage) -> str | None:
    """Return the lines about dropped arguments and a full workspace; None where there are none."""
    notes = [note for name in (IGNORED, FULL) if (note := message.response_metadata.get(name)) is not None]
    return "\n".join(notes) or None
