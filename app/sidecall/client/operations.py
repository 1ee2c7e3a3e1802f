"""All requests of a client, as steps; only this file and `remembered.py` know routes and headers."""

import hashlib
import json
import logging
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from urllib.parse import unquote

import httpx

from sidecall.client.accumulator import make_plain, write_body
from sidecall.client.answers import CallApproval, CallState, ToolAnswer
from sidecall.client.durable_calls import (
    JSON_BODY,
    Remembered,
    escape,
    is_any_answer,
    is_approval,
    is_definition,
    is_list_of,
    is_message,
    is_preview,
    is_state,
    is_tool,
    read_answer,
)
from sidecall.client.failures import ApprovalNeeded, NotThere, UnknownAnswer
from sidecall.client.options import (
    OF_CALLS,
    OF_JOBS,
    OF_PREVIEWS,
    OF_STREAMS,
    CallOptions,
    ToolFilters,
    beside,
    check_filters,
    limit_time,
    require_options,
)
from sidecall.client.steps import Sending, Steps
from sidecall.client.streams import pass_progress, stream_call

logger = logging.getLogger(__package__)

_KEY = re.compile(r"[\x20-\x7e]{1,255}")

_UNREAD = re.compile(r"\*=\d+")


@dataclass
class Operations(Remembered):
    """Requests to list and run tools.

    With `makes_keys` each call gets an idempotency key, so that it is retried after a lost connection.
    `names_conversation` says that the client's headers name the conversation of all calls.
    """

    makes_keys: bool = False
    names_conversation: bool = False
    listings: dict[str, tuple[str, list[Any]]] = field(default_factory=dict)

    def list_tools(self, form: str, filters: ToolFilters) -> Steps[list[Any]]:
        """List the tools; an unchanged list is not sent again."""
        filters = check_filters(filters)
        params = [("format", form), *(("tag", tag) for tag in filters.get("tags", ()))]
        params += [("name", name) for name in filters.get("names", ())]
        params += [("toolset", filters["toolset"])] if "toolset" in filters else []
        params += [("search", filters["search"])] if "search" in filters else []
        params += [("strict", "true")] if filters.get("strict") else []
        headers = _write_context(filters.get("context"))
        wanted = repr((params, headers))
        # Kept here, since others may push it out before the answer comes.
        tag, listed = self.listings.get(wanted, ("", []))
        if tag:
            headers["If-None-Match"] = tag
        response = yield from self._send(Sending("GET", "/tools", params, headers, is_safe=True))
        if response.status_code != httpx.codes.NOT_MODIFIED:
            tag, listed = response.headers.get("ETag", ""), read_answer(response, is_list_of(is_definition(form)))
            self.listings = {**dict([*self.listings.items()][-15:]), wanted: (tag, listed)}
        return list(listed)

    def show_tool(self, name: str, context: Mapping[str, Any] | None = None) -> Steps[dict[str, Any]]:
        """Get everything about one tool."""
        request = Sending("GET", f"/tools/{escape(name)}", headers=_write_context(context), is_safe=True)
        shown: dict[str, Any] = read_answer((yield from self._send(request)), is_tool)
        return shown

    def show_tools(self, filters: ToolFilters) -> Steps[list[dict[str, Any]]]:
        """Get everything about each listed tool."""
        shown: list[dict[str, Any]] = []
        for listed in (yield from self.list_tools("mcp", filters)):
            try:
                shown.append((yield from self.show_tool(listed["name"], filters.get("context"))))
            except NotThere as gone:
                # It was renamed or removed since it was listed; another 404 comes from elsewhere.
                if gone.slug != "unknown-tool":
                    raise
        wanted = check_filters(filters).get("names", ())
        if missing := sorted(set(wanted) - {it["name"] for it in shown}):
            logger.warning("the server offers no tool called %s, or not to this caller", ", ".join(missing))
        return shown

    def call(self, call: Mapping[str, Any], options: CallOptions) -> Steps[ToolAnswer]:
        """Run a call, and wait for its answer, also if it is durable or needs approval.

        Raises:
            ApprovalNeeded: A person has to decide.
        """
        require_options(options, OF_CALLS, "a call")
        if "on_progress" in options:
            return (yield from self._call_with_progress(call, options))
        request = self.call_request(call, options)
        response = yield from self._send(request)
        place = response.headers.get("Location", "")
        if response.status_code != httpx.codes.ACCEPTED:
            return read_message(response)
        if _is_of_approval(place):
            return (yield from self._decide_call(place.rpartition("/")[2], options))
        state = yield from self.wait_for_person(read_answer(response, is_state)["id"])
        if state.awaited is not None:
            return (yield from self._decide_call(state.awaited, options))
        if state.answer is None:
            raise UnknownAnswer(f"the call ended as {state.status}, without an answer")
        return state.answer

    def _call_with_progress(self, call: Mapping[str, Any], options: CallOptions) -> Steps[ToolAnswer]:
        if "key" in options:
            raise TypeError("a call with on_progress does not take a key")
        streamed = cast("CallOptions", {key: value for key, value in options.items() if key in OF_STREAMS})
        said = yield from pass_progress(self.stream(call, streamed), options["on_progress"])
        return said if isinstance(said, ToolAnswer) else (yield from self._decide_call(said.id, options))

    def stream(self, call: Mapping[str, Any], options: CallOptions) -> Steps[None]:
        """Run a call, and yield its events until the answer."""
        return stream_call(call, options, self.persistence, self._name_conversation(options))

    def _decide_call(self, approval_id: str, options: CallOptions) -> Steps[ToolAnswer]:
        return ToolAnswer.read((yield from self.decide_waiting(approval_id, "langchain", options)))

    def call_request(self, call: Mapping[str, Any], options: CallOptions, prefer: str | None = None) -> Sending:
        """Build the request of one call.

        Raises:
            ValueError: The key is none that can be sent.
        """
        key = options.get("key")
        if key is None and self.makes_keys:
            key = uuid.uuid4().hex
        headers = {
            **JSON_BODY,
            **({} if key is None else {"Idempotency-Key": _write_key(key)}),
            **({"Prefer": prefer} if prefer else {}),
            **self._name_conversation(options),
        }
        body = write_body({**make_plain(call), **beside(options)})
        params = [("format", "langchain"), *limit_time(options)]
        return Sending(
            "POST", "/tool_calls", params, headers, body, is_safe=key is not None, limit=options.get("timeout")
        )

    def preview(self, call: Mapping[str, Any], options: CallOptions) -> Steps[dict[str, Any]]:
        """Dry-run a call."""
        require_options(options, OF_PREVIEWS, "a preview")
        body = write_body({**make_plain(call), **beside(options)})
        params, headers = (
            [("dry_run", "true"), ("format", "langchain")],
            {**JSON_BODY, **self._name_conversation(options)},
        )
        response = yield from self._send(Sending("POST", "/tool_calls", params, headers, body, is_safe=True))
        planned: dict[str, Any] = read_answer(response, is_preview)
        return planned

    def _name_conversation(self, options: CallOptions) -> dict[str, str]:
        return {} if self.names_conversation else write_conversation(options)

    def batch(self, calls: Sequence[Any], form: str | None, options: CallOptions) -> Steps[tuple[list[Any], list[str]]]:
        """Run calls concurrently; return the answers, and for each the approval that it waits for, or None."""
        body = write_body({"calls": [make_plain(call) for call in calls], **beside(options)})
        params = [*([("format", form)] if form else []), *limit_time(options)]
        request = Sending("POST", "/tool_calls/batch", params, JSON_BODY, body, limit=options.get("timeout"))
        response = yield from self._send(request)
        waiting = _read_waiting(response.headers.get("X-Sidecall-Approvals", ""))
        answers = read_answer(response, is_list_of(is_message if form == "langchain" else is_any_answer, len(calls)))
        return answers, [waiting.get(id_of(answer), "") for answer in answers]

    def submit(self, call: Mapping[str, Any], options: CallOptions) -> Steps[CallState]:
        """Start a durable call, without waiting for it."""
        require_options(options, OF_JOBS, "a job")
        if "key" not in options:
            # What is remembered costs a row anyway, and sent twice it would run twice.
            options = {**options, "key": uuid.uuid4().hex}
        response = yield from self._send(self.call_request(call, options, "respond-async"))
        place = response.headers.get("Location", "")
        if _is_of_approval(place):
            raise ApprovalNeeded([CallApproval.read(read_answer(response, is_approval))])
        if response.status_code == httpx.codes.ACCEPTED:
            return CallState.read(read_answer(response, is_state))
        if "Preference-Applied" not in response.headers:
            # Refused before it began, as of a tool that is not there: nothing of it is remembered.
            return CallState.of(read_message(response))
        # With a key that was sent before, the answer may be there at once.
        return (yield from self.show_call(read_answer(response, is_message)["id"]))


def read_message(response: httpx.Response) -> ToolAnswer:
    """Read a ToolMessage."""
    return ToolAnswer.read(read_answer(response, is_message), replayed="Idempotency-Replayed" in response.headers)


def _is_of_approval(place: str) -> bool:
    """Return whether a `Location` is that of an approval; a proxy may have put a prefix, or its address, before it."""
    return place.rpartition("/")[0].endswith("/approvals")


def id_of(answer: Mapping[str, Any]) -> str:
    """Return the call id of an answer in any dialect."""
    inner = answer.get("functionResponse") or answer
    found = (inner.get(key) for key in ("tool_call_id", "call_id", "tool_use_id", "approval_request_id", "id"))
    return str(next(filter(None, found), ""))


def _read_waiting(header: str) -> dict[str, str]:
    pairs = [pair.strip() for pair in header.split(",") if pair.strip()]
    if any(map(_UNREAD.fullmatch, pairs)):
        raise UnknownAnswer("so many calls of one batch wait for a person that the server names only some: send fewer")
    return {unquote(call_id): approval_id for call_id, _, approval_id in (pair.partition("=") for pair in pairs)}


def _write_key(key: str) -> str:
    if not _KEY.fullmatch(key):
        raise ValueError(f"a key is 1 to 255 printable ASCII characters, not {key!r:.300}")
    escaped = key.replace("\\", r"\\").replace('"', r"\"")
    return f'"{escaped}"'


def _write_context(context: Mapping[str, Any] | None) -> dict[str, str]:
    return {} if context is None else {"X-Sidecall-Context": json.dumps(context)}


def name_call(call: Any, args: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the call of a tool by name and arguments; a model's call is returned unchanged."""
    if isinstance(call, str):
        return {"type": "tool_call", "name": call, "args": dict(args or {})}
    if args is not None:
        raise TypeError("arguments go with the name of a tool; a call has its own")
    plain = make_plain(call)
    if not isinstance(plain, Mapping):
        raise TypeError(f"neither a tool's name nor a call: {call!r:.200}")
    return dict(plain)


HEADER = "Sidecall-Conversation"

_FIELD = "conversation_id"
# What a server takes as the name of one, which is a part of paths too.
_NAME = re.compile(r"(?!\.{1,2}$)[!-.0-~]{1,256}")


def write_conversation(options: CallOptions) -> dict[str, str]:
    """Return the conversation header of a call, unless its context names the conversation.

    A name that is no valid header value is hashed, so that it is stable and unique.
    """
    name = options.get("conversation")
    if name is None or _FIELD in (options.get("context") or {}):
        return {}
    if not _NAME.fullmatch(name):
        name = f"sha256-{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()}"
    return {HEADER: name}
