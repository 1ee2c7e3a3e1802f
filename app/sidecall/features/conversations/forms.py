"""What is said of conversations."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from sidecall.features.workspaces.rest.forms import ShownFile
from sidecall.kernel.ports.approvals.stores import ListedApproval
from sidecall.kernel.ports.call_entry import CallEntry


class ListedConversation(BaseModel, defer_build=True):
    """A conversation in a list."""

    id: str = Field(description="As in the header `Sidecall-Conversation`, or `conversation_id` in the context.")
    first: datetime = Field(description="When its first call began.")
    last: datetime = Field(description="When its last call began or ended.")
    calls: int = Field(description="How many of its calls have ended, also those that are not kept any more.")
    errors: int = Field(description="How many of them have failed.")
    waiting: int = Field(description="How many of its calls wait for a person.")


class Event(BaseModel, defer_build=True):
    """One thing that happened."""

    at: datetime = Field(description="When the call came, the approval was asked for, or the file was written last.")
    type: Literal["call", "approval", "file"]
    id: str = Field(description="The `id` of the call, approval or file.")


class ConversationStory(BaseModel, defer_build=True):
    """What happened in a conversation, the oldest first."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)

    id: str
    first: datetime
    last: datetime
    errors: int
    waiting: int = Field(description="How many of its calls wait for a person.")
    calls: list[CallEntry] = Field(description="Its latest calls, without their answers.")
    approvals: list[ListedApproval]
    files: list[ShownFile]
    timeline: list[Event] = Field(description="All of them in one order.")
