"""The requests that provoke every answer which the OpenAPI document names."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Case:
    """A request and the documented answer that it has to bring about; `{…}` in its path is filled in."""

    operation: str
    status: int
    path: str
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def method(self) -> str:
        """The method, which the operation begins with."""
        return self.operation.partition(" ")[0].upper()


def write_tool_call(name: str, **args: Any) -> dict[str, Any]:
    """Write a call of a tool."""
    return {"name": name, "args": args, "id": "call_1"}


_FOREIGN = {"host": "evil.example"}
_FROM_A_PAGE = {"origin": "http://evil.example", "sec-fetch-site": "cross-site"}


def list_page_cases(operation: str, path: str, body: Any = None) -> tuple[Case, ...]:
    """List what every route but the probes refuses to browsers."""
    return Case(operation, 421, path, body, _FOREIGN), Case(operation, 403, path, body, _FROM_A_PAGE)


def list_post_cases(operation: str, path: str, right: Any) -> tuple[Case, ...]:
    """List what every route that takes JSON refuses."""
    return (
        Case(operation, 400, path, b"{"),
        Case(operation, 413, path, b" " * 5_000_000),
        Case(operation, 415, path, json.dumps(right).encode(), {"content-type": "text/plain"}),
        *list_page_cases(operation, path, right),
    )


CALLS, BATCH, DECIDE = "post /tool_calls", "post /tool_calls/batch", "post /approvals/{approval_id}"
NAMELESS = {"x-caller": "x" * 1000}
CASES: tuple[Case, ...] = (
    Case("get /tools", 200, "/tools"),
    Case("get /tools", 304, "/tools", headers={"if-none-match": "*"}),
    Case("get /tools", 400, "/tools?strict=false", headers=NAMELESS),
    Case("get /tools", 422, "/tools?format=cobol"),
    *list_page_cases("get /tools", "/tools"),
    Case("get /tools/{name}", 200, "/tools/rows"),
    Case("get /tools/{name}", 304, "/tools/rows", headers={"if-none-match": "*"}),
    Case("get /tools/{name}", 400, "/tools/rows", headers=NAMELESS),
    Case("get /tools/{name}", 404, "/tools/none"),
    *list_page_cases("get /tools/{name}", "/tools/rows"),
    Case(CALLS, 200, "/tool_calls", write_tool_call("choose", one="first")),
    Case(CALLS, 202, "/tool_calls", write_tool_call("approved", amount=1)),
    Case(CALLS, 403, "/tool_calls", write_tool_call("forbidden")),
    Case(CALLS, 422, "/tool_calls", {"a": 1}),
    Case(CALLS, 500, "/tool_calls", write_tool_call("fail_through")),
    *list_post_cases(CALLS, "/tool_calls", write_tool_call("kept")),
    Case(
        BATCH,
        200,
        "/tool_calls/batch",
        [write_tool_call("choose", one="first"), write_tool_call("fail_through"), write_tool_call("forbidden")],
    ),
    Case(BATCH, 422, "/tool_calls/batch", [1]),
    *list_post_cases(BATCH, "/tool_calls/batch", [write_tool_call("kept")]),
    Case("get /contents/{content_id}", 200, "{content}"),
    Case("get /contents/{content_id}", 400, "{content}", headers=NAMELESS),
    Case("get /contents/{content_id}", 404, "/contents/none"),
    *list_page_cases("get /contents/{content_id}", "{content}"),
    Case("get /approvals", 200, "/approvals?status=pending"),
    Case("get /approvals", 400, "/approvals", headers=NAMELESS),
    Case("get /approvals", 422, "/approvals?status=lost"),
    *list_page_cases("get /approvals", "/approvals"),
    Case("get /approvals/{approval_id}", 200, "{approval}"),
    Case("get /approvals/{approval_id}", 400, "{approval}", headers=NAMELESS),
    Case("get /approvals/{approval_id}", 404, "/approvals/none"),
    Case("get /approvals/{approval_id}", 422, "{approval}?format=cobol"),
    *list_page_cases("get /approvals/{approval_id}", "{approval}"),
    *list_post_cases(DECIDE, "{approval}", {"decision": "reject"}),
    Case(DECIDE, 404, "/approvals/none", {"decision": "reject"}),
    Case(DECIDE, 422, "{approval}", {"decision": "perhaps"}),
    Case(DECIDE, 200, "{approval}", {"decision": "approve"}),
    Case(DECIDE, 409, "{approval}", {"decision": "reject"}),
    Case("get /healthz", 200, "/healthz"),
    Case("get /readyz", 200, "/readyz"),
    Case("get /metrics", 200, "/metrics"),
    *list_page_cases("get /metrics", "/metrics"),
    Case("get nothing", 404, "/nowhere"),
    Case("delete nothing", 405, "/tool_calls"),
)
# What needs a server that is busy, or about to end.
BUSY = (Case(CALLS, 429, "/tool_calls", write_tool_call("kept")),)
FULL = (Case(CALLS, 503, "/tool_calls", write_tool_call("approved", amount=1)),)
LISTENING = (Case("get /tool_calls/{call_id}", 503, "{queued}", headers={"prefer": "wait=1"}),)
ENDING = (Case("get /readyz", 503, "/readyz"),)

LIST, EXPORT, ONE = "get /tool_calls", "get /tool_calls/export", "get /tool_calls/{call_id}"
EVENTS, CANCEL, REPLAY = f"{ONE}/events", "post /tool_calls/{call_id}/cancel", "post /tool_calls/{call_id}/replay"
KEEP, FORGET = "post /contents", "delete /contents/{content_id}"
_NOBODYS = "/tool_calls/01a202d4-8e08-76c8-a6cd-81cabbcf02ac"
_INSIST = {"insist": True}
_PLAIN = {"content-type": "text/plain"}


def list_read_cases(operation: str, path: str) -> tuple[Case, ...]:
    """List what every route that reads refuses."""
    return (Case(operation, 400, path, headers=NAMELESS), *list_page_cases(operation, path))


REMEMBERED: tuple[Case, ...] = (
    Case(LIST, 200, "/tool_calls?limit=1"),
    Case(LIST, 422, "/tool_calls?limit=0"),
    *list_read_cases(LIST, "/tool_calls"),
    Case(EXPORT, 200, "/tool_calls/export"),
    Case(EXPORT, 422, "/tool_calls/export?since=0.5"),
    *list_read_cases(EXPORT, "/tool_calls/export"),
    Case(ONE, 200, "{call}"),
    Case(ONE, 404, _NOBODYS),
    Case(ONE, 422, "{call}?format=cobol"),
    *list_read_cases(ONE, "{call}"),
    Case(EVENTS, 200, "{call}/events"),
    Case(EVENTS, 204, "{call}/events", headers={"last-event-id": "999999999"}),
    Case(EVENTS, 404, f"{_NOBODYS}/events"),
    Case(EVENTS, 422, "{call}/events?format=cobol"),
    *list_read_cases(EVENTS, "{call}/events"),
    Case(CANCEL, 404, f"{_NOBODYS}/cancel"),
    Case(CANCEL, 422, "{held}/cancel?format=cobol"),
    *list_read_cases(CANCEL, "{held}/cancel"),
    Case(CANCEL, 200, "{held}/cancel"),
    Case(CANCEL, 409, "{held}/cancel"),
    Case(REPLAY, 202, "{call}/replay", _INSIST),
    Case(REPLAY, 200, "{call}/replay", _INSIST, {"prefer": "wait=20"}),
    Case(REPLAY, 404, f"{_NOBODYS}/replay"),
    Case(REPLAY, 409, "{call}/replay"),
    Case(REPLAY, 422, "{call}/replay", {"insist": 7}),
    *list_post_cases(REPLAY, "{call}/replay", _INSIST),
    Case(KEEP, 201, "/contents", b"1\n2", _PLAIN),
    Case(KEEP, 400, "/contents", b"1", {**_PLAIN, **NAMELESS}),
    Case(KEEP, 413, "/contents", b" " * 5_000_000, _PLAIN),
    Case(KEEP, 415, "/contents", b"--x--", {"content-type": "multipart/form-data; boundary=x"}),
    *list_page_cases(KEEP, "/contents", {}),
    Case("get /contents/{content_id}", 206, "{content}", headers={"range": "bytes=0-1"}),
    Case("get /contents/{content_id}", 304, "{content}", headers={"if-none-match": "*"}),
    Case("get /contents/{content_id}", 416, "{content}", headers={"range": "bytes=999999999-"}),
    Case("get /contents/{content_id}", 422, "{content}?lines=x"),
    Case("get /contents/{content_id}", 503, "{content}?lines=1&timeout=0.000001"),
    *list_read_cases(FORGET, "{content}"),
    Case(FORGET, 404, "/contents/none"),
    Case(FORGET, 204, "{content}"),
)
# Answers that need a lost record, a caller at all limits, or a store that cannot be written.
GONE = (Case(REPLAY, 410, "{call}/replay", _INSIST),)
COUNTED = (
    Case(REPLAY, 429, "{call}/replay", _INSIST),
    Case(KEEP, 201, "/contents", b" " * 3_000_000, _PLAIN),
    Case(KEEP, 429, "/contents", b" " * 3_000_000, _PLAIN),
)
BROKEN = (
    Case(REPLAY, 503, "{call}/replay", _INSIST),
    Case(KEEP, 503, "/contents", b"1", _PLAIN),
    Case(FORGET, 503, "{content}"),
    Case("delete /approvals/rules/{rule_id}", 503, "/approvals/rules/none"),
)
