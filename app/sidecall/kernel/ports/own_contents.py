"""The contents that a tool reads and saves for its caller."""

from typing import NamedTuple, Protocol

from sidecall.kernel.core.errors import ToolException

# Of an id, as much as is said back; those that there are have half of it.
_SHOWN = 64
BYTES = "application/octet-stream"


class ContentBody(NamedTuple):
    """A content's bytes and media type."""

    body: bytes
    media_type: str


class NoSuchContent(ToolException):
    """There is no such content of this caller, or it has expired."""

    @classmethod
    def of(cls, content_id: str) -> "NoSuchContent":
        """Add the requested id to the text, so that a model sees what it wrote."""
        shown = content_id if len(content_id) <= _SHOWN else f"{content_id[:_SHOWN]}…"
        return cls(
            f"There is no content {shown!r} here, or it has expired. Give the `id` of an upload to /contents, or the "
            "`artifact_url` of an earlier answer."
        )


class ContentNotKept(ToolException):
    """The content cannot be kept."""


class OwnContents(Protocol):
    """The contents of the tool's caller; those of others are inaccessible."""

    async def aread(self, content_id: str) -> ContentBody:
        """Return a content, by its id or its URL.

        Raises:
            NoSuchContent: There is none, it has expired, or it is another caller's.
        """

    def read(self, content_id: str) -> ContentBody:
        """Do the same in a sync function."""

    async def asave(self, body: str | bytes, media_type: str | None = None) -> str:
        """Save a body and return its id.

        Raises:
            ContentNotKept: It is too large, or the caller has no room left.
            ValueError: That is no media type.
        """

    def save(self, body: str | bytes, media_type: str | None = None) -> str:
        """Do the same in a sync function."""
