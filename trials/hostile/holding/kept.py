"""Stored calls, approvals, files and vector stores."""

from typing import Any
from uuid import uuid4

import httpx

from trials.hostile.holding.case import HERE, Case, Client, after, call, get, send

_VALUES = [f"text {number}" for number in range(49_000)]
_TEXT = "x" * (4_194_304 - 1000)
_LATER = {"Prefer": "respond-async"}
_LEAVE = "for n in range(12_000):\n    open(f'/workspace/{n}', 'w').write('')"
_WRITE = "open('/workspace/long.txt', 'w').write('line of text\\n' * 2_500_000)"


def _decide(decision: Any) -> Any:
    """Ask for an approval of many values, and decide about it."""

    def ask(client: Client) -> httpx.Response:
        call = {"name": "approve", "args": {"value": [*_VALUES, str(uuid4())]}, "id": str(uuid4())}
        waiting = client.post("/tool_calls", json=call)
        return client.post(waiting.headers["Location"], json=decision)

    return ask


def _look_at(path: str, name: str, args: Any) -> Any:
    """Send a call that is remembered, wait for its end, and ask for something of it."""

    def ask(client: Client) -> httpx.Response:
        sent = client.post("/tool_calls", json={"name": name, "args": args, "id": "looked"}, headers=_LATER)
        place = sent.headers["Location"]
        client.get(place, headers={"Prefer": "wait=30"})
        return client.post(place + path) if path == "/replay" else client.get(place + path)

    return ask


def _search(client: Client) -> httpx.Response:
    store = client.post("/vector_stores", json={"name": "one"}).json()["id"]
    lists = [
        {"type": "in", "key": f"key{number}", "value": [f"value {it}" for it in range(100)]} for number in range(10)
    ]
    return client.post(
        f"/vector_stores/{store}/search", json={"query": "words", "filters": {"type": "or", "filters": lists}}
    )


def _send_file(client: Client, line: bytes = b"Herons fish in shallow water.\n", name: str = "a.txt") -> httpx.Response:
    body = line * (3_900_000 // len(line))
    sent = client.post("/files", data={"purpose": "assistants"}, files={"file": (name, body)})
    store = client.post("/vector_stores", json={"name": "two"}).json()["id"]
    return client.post(f"/vector_stores/{store}/files", json={"file_id": sent.json()["id"]})


def _search_long(client: Client) -> httpx.Response:
    store = client.post("/vector_stores", json={"name": "three"}).json()["id"]
    return client.post(f"/vector_stores/{store}/search", json={"query": ["herons fish " * 40_000] * 8})


_CALLS = [
    Case("a remembered call with a long text", "4 MiB", call("echo", {"value": _TEXT}, **_LATER)),
    Case("a remembered call with many values", "49,000", call("echo", {"value": _VALUES}, **_LATER)),
    Case("GET /tool_calls/{id}", "49,000 values", _look_at("", "echo", {"value": _VALUES})),
    Case("GET /tool_calls/{id} of a long answer", "16 MB", _look_at("", "fill", {"megabytes": 16})),
    Case("GET /tool_calls/{id}/events", "10,000 times", _look_at("/events", "report", {"times": 10_000})),
    Case("POST /tool_calls/{id}/replay", "49,000 values", _look_at("/replay", "echo", {"value": _VALUES})),
    Case("an approval of a long text", "4 MiB", call("approve", {"value": _TEXT})),
    Case("an approval of many values", "49,000", call("approve", {"value": _VALUES})),
    Case("a decision about many values", "49,000", _decide({"decision": "approve"})),
    Case(
        "a decision with many other values", "49,000", _decide({"decision": "approve", "args": {"value": _VALUES[1:]}})
    ),
    Case("a decision that does not fit", "49,000", _decide({"decision": _VALUES})),
    Case("a reason that is too long", "4 MB", _decide({"decision": "reject", "reason": _TEXT})),
    Case("GET /approvals", "1,000, or 1 MiB", get("/approvals?limit=1000")),
    Case("GET /tool_calls", "1,000, or 1 MiB", get("/tool_calls?limit=1000")),
    Case("GET /tool_calls by names", "2,000", get("/tool_calls?" + "&".join(f"name=name_{it}" for it in range(2000)))),
    Case("GET /tool_calls/export", "all", get("/tool_calls/export")),
    Case("GET /tool_calls/summary", "all", get("/tool_calls/summary?by=hour")),
    Case("GET /audit", "all", get("/audit?limit=1000")),
]
_SEARCHES = [
    Case("a search with a large filter", "1,000 values", _search),
    Case("a search for many words", "8 texts, 3.8 MB", _search_long),
    Case(
        "a filter that is too deep",
        "150 levels",
        send({"query": "x", "filters": _VALUES}, "/vector_stores/none/search"),
    ),
    Case(
        "a store with much beside it",
        "49,000 values",
        send({"name": "x", "metadata": dict.fromkeys(_VALUES, "x")}, "/vector_stores"),
    ),
    Case("a file that is sent to be searched", "4 MB", _send_file),
    Case("one without pauses", "4 MB", lambda client: _send_file(client, b"x", "b.txt")),
    Case("one of line breaks", "4 MB", lambda client: _send_file(client, b"\n \n", "c.txt")),
    Case("a web page", "4 MB", lambda client: _send_file(client, b"<div><b>heron</b>", "d.html")),
    Case("the tool file_search", "8 texts", call("file_search", {"queries": ["herons fish " * 400] * 8})),
]
_FILES = [
    Case("Python that leaves files behind", "12,000 files", call("run_python", {"code": _LEAVE}, **HERE)),
    Case("Python where the workspace is full", "12,000 files", call("run_python", {"code": "1"}, **HERE)),
    Case("GET /workspaces/{id}/files", "1,000 of 12,000", get("/workspaces/one/files?limit=1000")),
    Case("a search by a pattern in all files", "12,000 files", call("grep", {"pattern": "(a|b)*c"}, **HERE)),
    Case("DELETE /workspaces/{id}", "12,000 files", lambda client: client.delete("/workspaces/one")),
    Case(
        "a long file",
        "32 MB",
        after(
            call("run_python", {"code": _WRITE}, **HERE),
            call("read", {"file_path": "/workspace/long.txt", "view_range": [2_000_000, 2_000_100]}, **HERE),
        ),
    ),
    Case("a search in it", "32 MB", call("grep", {"pattern": "(l|i|n)*z"}, **HERE)),
    Case(
        "a change in it",
        "32 MB",
        call("edit", {"file_path": "/workspace/long.txt", "old_string": "none", "new_string": "x"}, **HERE),
    ),
    Case(
        "a line in it",
        "32 MB",
        call(
            "str_replace_based_edit_tool",
            {"command": "insert", "path": "/workspace/long.txt", "insert_line": 1_000_000, "insert_text": "x\n"},
            **HERE,
        ),
    ),
    Case(
        "many changes in it",
        "2,500,000",
        call(
            "edit",
            {"file_path": "/workspace/long.txt", "old_string": "text", "new_string": "word", "replace_all": True},
            **HERE,
        ),
    ),
]
CASES = [*_CALLS, *_SEARCHES, *_FILES]
