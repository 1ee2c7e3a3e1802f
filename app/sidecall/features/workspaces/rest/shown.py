"""Workspaces and their files in the shapes of OpenAI's containers."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from sidecall.features.workspaces.claims import Claim
from sidecall.features.workspaces.workspace import Workspace
from sidecall.features.workspaces.workspaces import Expiry


class ExpiresAfter(BaseModel, defer_build=True):
    """When a workspace is removed: a number of minutes after it was last used."""

    anchor: Literal["last_active_at"] = "last_active_at"
    minutes: int


class WantedExpiry(BaseModel, defer_build=True):
    """After how many minutes without use it is to be removed."""

    model_config = ConfigDict(extra="forbid")

    anchor: Literal["last_active_at"] = "last_active_at"
    minutes: int = Field(ge=1, strict=True, description="At most what the server keeps any workspace.")


class WorkspaceTerm(BaseModel, defer_build=True):
    """How long a workspace is to be kept."""

    model_config = ConfigDict(extra="forbid")

    expires_after: WantedExpiry


class ShownWorkspace(BaseModel, defer_build=True):
    """The files of one conversation, as OpenAI shows a container."""

    id: str = Field(description="The conversation.")
    object: Literal["container"] = "container"
    created_at: int = Field(description="Seconds since 1970.")
    last_active_at: int
    status: Literal["running"] = "running"
    expires_after: ExpiresAfter | None = Field(description="Null where it is kept until it is deleted.")
    expires_at: int | None = Field(description="When it is removed if it is not used again.")


class ShownFile(BaseModel, defer_build=True):
    """A file of a workspace, as OpenAI shows one of a container."""

    id: str
    object: Literal["container.file"] = "container.file"
    container_id: str = Field(description="The conversation.")
    path: str = Field(description="As models know it.")
    bytes: int
    created_at: int = Field(description="When it was written last, in seconds since 1970.")
    source: Literal["user", "assistant"] = Field(description="Whether a program has sent it, or a tool made it.")
    url: str = Field(description="Where its content is.")


class FileListing(BaseModel, defer_build=True):
    """Some of the files, in the order of their paths."""

    object: Literal["list"] = "list"
    data: list[ShownFile]
    first_id: str | None
    last_id: str | None = Field(description="What `after` takes to go on.")
    has_more: bool


class DeletedFile(BaseModel, defer_build=True):
    """A file that is not there any more."""

    id: str
    object: Literal["container.file.deleted"] = "container.file.deleted"
    deleted: Literal[True] = True


def show_workspace(workspace: Workspace, conversation: str, expiry: Expiry) -> ShownWorkspace:
    """Describe a workspace."""
    assert isinstance(workspace.claim, Claim)
    span = workspace.claim.span
    ends = span.find_end(expiry.idle, expiry.hard)
    idle = expiry.idle if span.idle is None else span.idle
    return ShownWorkspace(
        id=conversation,
        created_at=int(span.created),
        last_active_at=int(span.active),
        expires_after=None if ends is None else ExpiresAfter(minutes=max(1, round(idle / 60))),
        expires_at=None if ends is None else int(ends),
    )
