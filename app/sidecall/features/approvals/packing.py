"""Approvals as bytes: as Python objects the same JSON takes up to fifty times as much memory."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from pydantic_core import to_json

from sidecall.features.approvals.record import REFUSED, ApprovalRecord
from sidecall.features.approvals.stores import ListedApproval, ListedCall, WaitingApprovals
from sidecall.features.jobs.errors import OutcomeUnknown
from sidecall.kernel.core.errors import CallRejected, ToolFailure
from sidecall.kernel.core.messages import ToolCall, ToolMessage, find_stored_value, keep_value, write_stored
from sidecall.kernel.core.native_results import settle_item
from sidecall.kernel.json_data.to_json import to_text
from sidecall.kernel.ports.approvals.approval import ApprovalState
from sidecall.kernel.ports.call_entry import to_datetime
from sidecall.storage.database import Database

# Ended approvals that are listed at once.
_AT_ONCE = 100

# Replaces one record by another; False where the record has changed.
Change = Callable[[ApprovalRecord, ApprovalRecord], Awaitable[bool]]


class EndedApprovals:
    """Trim the texts of answered approvals to fit the bounds, then delete whole ones, oldest first.

    Those that a durable call waits for are kept.
    """

    def __init__(self, database: Database, most: int, most_bytes: int, beside: int, change: Change) -> None:
        """Take the bounds; `beside` is the size of a record besides its texts."""
        self._database = database
        self._most = most
        self._most_bytes = most_bytes
        self._beside = beside
        self._change = change

    async def forget_oldest(self) -> None:
        """Delete the oldest ones beyond the maximum number.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        [(ended, _)] = await self._database.read("measure_ended_approvals")
        await self._forget(0, ended - self._most)

    async def make_room(self, size: int) -> bool:
        """Make room for so many more bytes; if that is impossible, delete nothing and return False.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        [(_, taken)] = await self._database.read("count_approvals")
        [(_, held)] = await self._database.read("measure_ended_approvals")
        over = taken + size - self._most_bytes
        if not 0 < over <= held:
            return False
        await self._forget(await self._shorten(over), 0)
        return True

    async def _shorten(self, over: int) -> int:
        """Trim the oldest until so many bytes are free; return how many are still missing."""
        number = 0
        while over > 0 and (rows := await self._list(number, 2 * self._beside)):
            number = rows[-1][0]
            for _, approval_id, size in rows:
                if over > 0:
                    over -= await self._shorten_one(approval_id, size)
        return over

    async def _shorten_one(self, approval_id: str, size: int) -> int:
        """Trim one, or delete it if it stays large; return the bytes that this freed."""
        rows = await self._database.read("get_decided_approval", approval_id, 0.0)
        if not rows:
            return 0
        record = read_packed(rows[0][0])
        shortened = shorten(record)
        left = PackedApproval.of(shortened).size + self._beside
        if left > 2 * self._beside:
            return size if await self._database.write("forget_ended_approval", approval_id) is not None else 0
        return size - left if await self._change(record, shortened) else 0

    async def _forget(self, over: int, too_many: int) -> None:
        number = 0
        # Expired approvals only take places, no bytes.
        while (over > 0 or too_many > 0) and (rows := await self._list(number, 0 if over > 0 else -1)):
            number = rows[-1][0]
            for _, approval_id, size in rows:
                if over <= 0 and too_many <= 0:
                    break
                if await self._database.write("forget_ended_approval", approval_id) is not None:
                    over, too_many = over - size, too_many - 1

    async def _list(self, number: int, larger_than: int) -> list[tuple[int, str, int]]:
        """List number, id and size of the oldest after a number."""
        rows = await self._database.read("list_ended_approvals", number, larger_than, _AT_ONCE)
        return [(number, approval_id, size) for number, approval_id, size in rows]


# Arguments and answers up to this length are shown in lists.
_LISTED = 4096

_APART_OF_HEAD: Any = {"tool_call": {"args"}, "asked_args": True, "message": True}

_APART: Any = {"approval": True, "asked": {"args"}, "call": {"tool_call": {"args"}}}
# What a decision alone does not change.
_UNDECIDED = ("asked", "call", "state", "tool", "begun")


@dataclass(frozen=True)
class PackedApproval:
    """The record of an approval as JSON, with its large parts apart; equal parts are stored once."""

    head: bytes
    rest: bytes
    shown: bytes
    asked: bytes
    sent: bytes | None
    message: bytes | None

    @classmethod
    def of(cls, record: ApprovalRecord) -> "PackedApproval":
        """Pack a record."""
        approval, call = record.approval, record.call
        parts: dict[bytes, bytes] = {}
        return cls(
            head=approval.model_dump_json(exclude=_APART_OF_HEAD).encode(),
            rest=record.model_dump_json(exclude=_APART).encode(),
            shown=_write(parts, approval.tool_call.args),
            asked=_write(parts, record.asked.args),
            sent=None if call is None else _write(parts, call.tool_call.args),
            message=None if approval.message is None else write_stored(approval.message),
        )

    def pack_change(self, before: ApprovalRecord, after: ApprovalRecord) -> "PackedApproval":
        """Pack a record that was this one before; of a decision that edits nothing only the decision is written."""
        approval = after.approval
        same = all(getattr(before, name) is getattr(after, name) for name in _UNDECIDED)
        if not same or approval.message is not None or approval.tool_call is not after.asked:
            return PackedApproval.of(after)
        return replace(self, head=approval.model_dump_json(exclude=_APART_OF_HEAD).encode(), shown=self.asked)

    @cached_property
    def size(self) -> int:
        """The size in bytes."""
        parts = (self.head, self.rest, self.shown, self.asked, self.sent, self.message)
        return sum({id(part): len(part) for part in parts if part is not None}.values())

    def unpack(self) -> ApprovalRecord:
        """Return the record."""
        parts = {name: json.loads(part) for name, part in self._parts.items() if part is not None}
        return _join(parts)

    def write(self) -> str:
        """Return the approval as one JSON text without repeated parts."""
        parts = self._parts
        if self.sent is not None and self.sent == self.asked:
            del parts["sent"]
        if self.asked == self.shown:
            del parts["asked"]
        members = (f'"{name}":{part.decode()}' for name, part in parts.items() if part is not None)
        return f"{{{','.join(members)}}}"

    @property
    def _parts(self) -> dict[str, bytes | None]:
        return {
            "head": self.head,
            "rest": self.rest,
            "shown": self.shown,
            "asked": self.asked,
            "sent": self.sent,
            "message": self.message,
        }

    def list(self) -> tuple[ListedApproval, int]:
        """Return it as lists show it, and how many bytes that takes."""
        head = json.loads(self.head)
        call = head.pop("tool_call")
        args, message = _read_if_short(self.shown), _read_if_short(self.message)
        listed = ListedApproval(
            **ApprovalState.model_validate(head).model_dump(),
            tool_call=ListedCall(name=call["name"], args=args, id=call["id"]),
            args_bytes=len(self.shown),
            message=None if message is None else ToolMessage.model_validate(message),
            message_bytes=None if self.message is None else len(self.message),
        )
        return listed, len(listed.model_dump_json())


def _write(parts: dict[bytes, bytes], args: Any) -> bytes:
    text = to_json(args)
    return parts.setdefault(text, text)


def _read_if_short(text: bytes | None) -> Any:
    return None if text is None or len(text) > _LISTED else json.loads(text)


def read_packed(text: str) -> ApprovalRecord:
    """Return the record that was written as one text."""
    parts = json.loads(text)
    asked = parts.setdefault("asked", parts["shown"])
    if parts["rest"]["call"] is not None:
        parts.setdefault("sent", asked)
    return _join(parts)


def _join(parts: dict[str, Any]) -> ApprovalRecord:
    rest = parts["rest"]
    rest["approval"] = parts["head"]
    rest["approval"]["tool_call"]["args"] = parts["shown"]
    rest["approval"]["asked_args"] = None if parts["asked"] == parts["shown"] else parts["asked"]
    rest["approval"]["message"] = parts.get("message")
    rest["asked"]["args"] = parts["asked"]
    if "sent" in parts:
        rest["call"]["tool_call"]["args"] = parts["sent"]
    record = ApprovalRecord.model_validate(rest)
    if record.approval.message is not None:
        keep_value(record.approval.message, find_stored_value(parts["message"]))
    return record


def read_time(listed: str) -> float:
    """Return when a listed approval was asked, in seconds since 1970."""
    return datetime.fromisoformat(json.loads(listed)["created_at"]).timestamp()


def describe_waiting(count: int, expires: float | None, oldest: float | None) -> WaitingApprovals:
    """Describe how many calls wait.

    Args:
        count: How many.
        expires: When the first expires, in seconds since 1970.
        oldest: For how many seconds the oldest waits.
    """
    return WaitingApprovals(
        waiting=count,
        pending=count,
        next_expires_at=None if expires is None else to_datetime(expires),
        oldest_seconds=None if oldest is None else max(0.0, round(oldest, 3)),
    )


# Seconds for which lists show expired calls, at least.
EXPIRED_SHOWN = 3600.0
# Characters of arguments, of an answer, and of other texts that stay.
_SHORT = 1024

_LET_GO = "Error: the call was answered, but its answer is not kept any more; it may have had effects."


def shorten(record: ApprovalRecord) -> ApprovalRecord:
    """Return the record of an answered call without large arguments and answer; the decision stays."""
    approval, asked = record.approval, record.asked
    members: dict[str, Any] = {
        name: None
        for name in ("asked_args", "preview", "payload", "description", "preview_error")
        if _is_large(getattr(approval, name))
    }
    if _is_large(approval.tool_call.args):
        members["tool_call"] = approval.tool_call.model_copy(update={"args": {}})
    message = approval.message
    if message is not None and _is_large(message.model_dump(mode="json")):
        members["message"] = _make_placeholder(message, asked)
    if _is_large(asked.args):
        asked = asked.model_copy(update={"args": {}})
    shortened = approval.model_copy(update=members)
    return record.model_copy(update={"approval": shortened, "asked": asked, "call": None, "state": None, "tool": None})


def expire(record: ApprovalRecord) -> ApprovalRecord:
    """Return an expired, undecided call as lists show it."""
    approval = record.approval.model_copy(update={"status": "expired"})
    return shorten(record.model_copy(update={"approval": approval}))


def _is_large(value: Any) -> bool:
    return value is not None and len(to_text(value)) > _SHORT


def _make_placeholder(message: ToolMessage, asked: ToolCall) -> ToolMessage:
    """Make a placeholder for an answer, which does not say whether it was a success."""
    error = {
        "kind": "output_error",
        "message": _LET_GO.removeprefix("Error: "),
        "retryable": False,
        "errors": [],
        "nearest": [],
    }
    standing = ToolMessage(
        content=_LET_GO,
        tool_call_id=message.tool_call_id,
        name=message.name,
        status="error",
        id=message.id,
        response_metadata={"error": error},
    )
    if asked.item is not None:
        settle_item(standing, asked)
    return standing


MakeAnswer = Callable[[ToolFailure, ToolCall], ToolMessage]


def answer_lost(record: ApprovalRecord, make_answer: MakeAnswer) -> ToolMessage:
    """Make the answer of such a call."""
    approval = record.approval
    is_refused = approval.status in REFUSED and not record.tells_tool
    failure = CallRejected(approval.reason) if is_refused else OutcomeUnknown()
    # The shown call lacks its item, which an answer repeats.
    sent = approval.tool_call if record.call is None else record.call.tool_call
    message = make_answer(failure, sent).model_copy(update={} if record.call is None else {"id": record.call.id})
    if sent.item is not None:
        settle_item(message, sent, approved=approval.status == "approved")
    return message
