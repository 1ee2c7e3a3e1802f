"""Approvals as bytes: as Python objects the same JSON takes up to fifty times as much memory."""

import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic_core import to_json

from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.result_values import find_stored_value, keep_value, write_stored
from sidecall.kernel.ports.approvals.approval import ApprovalRecord, ApprovalState
from sidecall.kernel.ports.approvals.listing import ListedApproval, ListedCall

# Arguments and answers up to this length are shown in lists.
_LISTED = 4096
_APART_OF_HEAD: Any = {"tool_call": {"args"}, "asked_args": True, "message": True}
_APART: Any = {"approval": True, "asked": {"args"}, "call": {"tool_call": {"args"}}}


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
