"""Serialize calls; their answers, ToolMessages, are serializable already."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, Self, TypeGuard

from pydantic import BaseModel, ConfigDict, Field, field_serializer

from sidecall.kernel.core.context import Caller, CallOrigin, HeaderMap
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall, make_unchecked
from sidecall.kernel.core.origin import find_origin
from sidecall.kernel.core.sender import Deadline, Sender
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.json_data.to_json import dump_plain
from sidecall.kernel.ports.approvals.review import NOT_REVIEWED, Review
from sidecall.kernel.ports.workspaces import FIELD, HEADER, name_conversation

# As deep as JSON from outside may be; what is nested deeper in this process mostly leads back to itself.
_DEEPEST = 200
# Credentials belong to the request, and must not be stored longer than it.
_SECRET_HEADERS = frozenset(("authorization", "cookie", "proxy-authorization", "x-api-key"))
# What is left out of the text where there is none.
_OPTIONAL = ("due", "known_as", "trace_id", "request_id")
# Of these every value, but for a text that is not of ASCII, is seen at once to be JSON.
_SIMPLE = frozenset((str, int, bool, type(None)))

# Names of recorded headers are in lower case.
_NAMED = HEADER.lower()
# Past the constructor, which would double the cost.
_new = tuple.__new__


class CallNotRecorded(SidecallError):
    """The call cannot be run from its record."""


class CallRecord(BaseModel, defer_build=True):
    """A call as data, without the objects that live only as long as its request.

    Left out are the listener and whether the client is still connected. The client's deadline is `due` for a call that
    runs for this request alone; a call that waits for a person has none, since the deadline was for another answer.
    """

    model_config = ConfigDict(frozen=True)

    id: str = Field(description="The invocation's id.")
    created_at: datetime
    tool_call: ToolCall
    caller: Caller
    state: Any = None
    context: dict[str, Any] = Field(default_factory=dict)
    headers: dict[str, str] = Field(default_factory=dict, description="Those that tools see, by lower-case names.")
    lost: tuple[str, ...] = Field(default=(), description="Where JSON could not say a value; null stands there.")
    due: tuple[float, float] | None = Field(
        default=None,
        description="Until when it may run, in seconds since 1970, and how many its client gave.",
    )
    known_as: str | None = Field(default=None, description="By what its approval is found again, in place of its id.")
    trace_id: str | None = Field(default=None, description="The trace in which it came.")
    request_id: str | None = Field(default=None, description="The HTTP request with which it came.")

    @classmethod
    def of(cls, request: CallRequest, id: str, origin: CallOrigin | None = None) -> Self:
        """Make the record of a call, which belongs to its request unless another origin is given.

        Everything that comes over HTTP can be recorded. From an in-process program, objects without a JSON form are
        left out, and `lost` names their paths.
        """
        lost: list[str] = []
        sent, known_as = request.call.__dict__, request.review.known_as  # All at once: attributes of a model are slow.
        _, trace_id, request_id = origin or find_origin(request)
        args = sent["args"]
        args = args.copy() if _is_simple(args) else _Copy(lost).make(args, "args")
        fields = {
            "id": id,
            "created_at": datetime.now(UTC),
            "tool_call": make_unchecked(ToolCall, {**sent, "args": {} if args is None else args}),
            "caller": request.sender.caller,
            "state": None if request.state is None else _Copy(lost).make(request.state, "state"),
            "context": _Copy(lost).make(dict(request.context), "context") or {} if request.context else {},
            "headers": _copy_headers(request.sender.headers),
            "lost": tuple(lost),
            "due": None,
            "known_as": known_as() if callable(known_as) else known_as,
            "trace_id": trace_id,
            "request_id": request_id,
        }
        return make_unchecked(cls, fields)

    def keep_deadline(self, deadline: Deadline) -> Self:
        """Return the record with the client's deadline, for a call that runs only for its request."""
        return self.model_copy(update={"due": deadline.to_clock()})

    def put_args(self, args: dict[str, Any] | str) -> Self:
        """Return the record with a person's edited arguments."""
        return self.model_copy(update={"tool_call": self.tool_call.model_copy(update={"args": args})})

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Parse a record.

        Raises:
            ValueError: The text is no record.
        """
        # Not by pydantic's parser, whose bound on nesting a call within its record may pass.
        return cls.model_validate(json.loads(text))

    def to_json(self) -> str:
        """Write the record as JSON text."""
        return self.write().decode()

    def write(self) -> bytes:
        """Write the record as JSON."""
        # What pydantic's own way makes, with less around it; there is nothing in a record that JSON cannot say.
        # A model, or a dictionary of a kind of its own, takes twice as long as its copy.
        said = self.__dict__
        call = {**said["tool_call"].__dict__}
        if call["item"] is None:
            del call["item"]
        copies = {"tool_call": call, "caller": self._write_caller(said["caller"]), "headers": {**said["headers"]}}
        written = {**said, **copies}
        for name in _OPTIONAL:
            if said[name] is None:
                del written[name]
        return dump_plain(written)

    def to_request(self) -> CallRequest:
        """Return a request that runs the recorded call.

        Raises:
            CallNotRecorded: Something of the call could not be written down.
        """
        said = self.__dict__
        if said["lost"]:
            lost = ", ".join(f"`{place}`" for place in said["lost"])
            raise CallNotRecorded(f"The call cannot be run from its record: JSON cannot say {lost}.")
        headers = said["headers"]
        return CallRequest(
            said["tool_call"],
            Sender(
                headers if type(headers) is HeaderMap else HeaderMap(headers),
                said["caller"],
                deadline=None if said["due"] is None else Deadline.from_clock(said["due"]),
                wants_value=True,  # The stored answer may be asked for over any route.
            ),
            said["state"],
            said["context"],
            id=said["id"],
            review=NOT_REVIEWED if said["known_as"] is None else Review(known_as=said["known_as"]),
            origin=self.origin,
        )

    @property
    def origin(self) -> CallOrigin:
        """What the call belongs to."""
        said = self.__dict__
        headers, context = said["headers"], said["context"]
        # Most name no conversation. Past the look-up of a header, since the names of recorded ones are in lower case.
        is_named = dict.__contains__(headers, _NAMED) or FIELD in context
        named = name_conversation(headers, context) if is_named else None
        return _new(CallOrigin, (named, said["trace_id"], said["request_id"]))

    @field_serializer("caller")
    def _write_caller(self, caller: Caller) -> dict[str, Any]:
        # In a fixed order, so that the same caller is always written the same.
        written = {"subject": caller.subject, "tenant": caller.tenant, "scopes": sorted(caller.scopes)}
        return written if caller.toolset is None else {**written, "toolset": asdict(caller.toolset)}


def _copy_headers(headers: Mapping[str, str]) -> dict[str, str]:
    kept = HeaderMap.__new__(HeaderMap)  # Empty, and without a look at what it is made of.
    named = [*headers.items()]
    kept.update(named)
    if not "".join(kept).islower():  # As those of a live request are.
        named = [(name.lower(), value) for name, value in named]
        kept.clear()
        kept.update(named)
    if len(kept) < len(named):
        kept.update(reversed(named))  # Of headers that came twice the first counts, as when one is looked up.
    for name in _SECRET_HEADERS.intersection(kept):
        del kept[name]
    return kept


class _Copy:
    """Copy values to JSON; null replaces what has no JSON form, and `lost` lists the paths."""

    def __init__(self, lost: list[str]) -> None:
        self._lost = lost
        self._above: set[int] = set()
        # One list for all values: a path of its own for each would cost as much as it is deep.
        self._place: list[str | int] = []

    def make(self, value: Any, name: str) -> Any:
        """Copy a member of the call."""
        self._place = [name]
        return self._copy(value)

    def _copy(self, value: Any) -> Any:
        if _is_plain(value):
            return value
        if not _is_container(value) or id(value) in self._above or len(self._above) == _DEEPEST:
            self._lost.append(format_path(self._place))
            return None
        self._above.add(id(value))
        self._place.append("")
        if type(value) is list:
            copied: Any = [self._copy_at(index, item) for index, item in enumerate(value)]
        else:
            copied = {key: self._copy_at(key, item) for key, item in value.items()}
        self._place.pop()
        self._above.remove(id(value))
        return copied

    def _copy_at(self, step: str | int, item: Any) -> Any:
        if _is_plain(item):
            return item
        self._place[-1] = step
        return self._copy(item)


def _is_simple(args: Any) -> TypeGuard[dict[str, Any]]:
    """Return whether arguments are surely JSON: a flat object of ASCII values."""
    if type(args) is not dict:
        return False
    for key, value in args.items():
        kind = type(value)
        if type(key) is not str or not key.isascii() or kind not in _SIMPLE or (kind is str and not value.isascii()):
            return False
    return True


def _is_plain(value: Any) -> bool:
    kind = type(value)
    if kind is str:
        return _is_text(value)
    return math.isfinite(value) if kind is float else kind in (int, bool, type(None))


def _is_container(value: Any) -> bool:
    if type(value) is dict:
        return all(type(key) is str and _is_text(key) for key in value)
    return type(value) is list


def _is_text(text: str) -> bool:
    """Return whether the text is valid UTF-8; lone surrogates are not."""
    try:
        text.isascii() or text.encode()
    except UnicodeEncodeError:
        return False
    return True
