"""A small MCP server whose tools each answer with one result, of a kind that servers give; started as a program."""

import json
import sys
from typing import Any

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SUM = {"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]}
SHOWN = {"audience": ["user"], "priority": 0.5, "lastModified": "2026-01-12T15:00:58Z"}

Wire = dict[str, Any]


def text(words: str, **beside: Any) -> Wire:
    """Write a block of text."""
    return {"type": "text", "text": words, **beside}


IMAGE = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": "AAEC", "mimeType": "audio/wav"}
LINK = {"type": "resource_link", "uri": "file:///a/c.txt", "name": "c"}
NOTE = {"type": "resource", "resource": {"uri": "file:///a/note.txt", "mimeType": "text/plain", "text": "a note"}}
BYTES = {"type": "resource", "resource": {"uri": "file:///a/b.bin", "blob": "AAEC", "_meta": {"of/size": 3}}}

# By the names of the tools: the results, and the schema that their tool promises.
RESULTS: dict[str, Wire] = {
    "free": {"content": [text("one")], "structuredContent": {"n": 1}},
    "free_alone": {"content": [], "structuredContent": {"n": 1}},
    "free_beside_image": {"content": [IMAGE], "structuredContent": {"n": 1}},
    "promised": {"content": [text("3")], "structuredContent": {"sum": 3}},
    "promised_only_text": {"content": [text("three")]},
    "promised_only_image": {"content": [text("look"), IMAGE]},
    "promised_other": {"content": [text("three")], "structuredContent": {"sum": "three"}},
    "promised_failed": {"content": [text("no sum")], "isError": True},
    "failed": {"content": [text("the disk is full")], "isError": True},
    "failed_twice": {"content": [text("no"), text("and no")], "isError": True},
    "failed_saying_nothing": {"content": [], "isError": True},
    "failed_with_value": {"content": [text("no")], "structuredContent": {"code": 7}, "isError": True},
    "failed_with_value_alone": {"content": [], "structuredContent": {"code": 7}, "isError": True},
    "failed_with_image": {"content": [text("see"), IMAGE], "isError": True},
    "failed_with_link": {"content": [LINK, NOTE], "isError": True},
    "annotated": {
        "content": [
            text("a", annotations=SHOWN),
            text("b", _meta={"of/page": 1}),
            {**IMAGE, "annotations": SHOWN},
            {**AUDIO, "annotations": SHOWN, "_meta": {"of/page": 2}},
            {**LINK, "annotations": SHOWN, "size": 3, "_meta": {"of/page": 3}},
            {**NOTE, "annotations": SHOWN, "_meta": {"of/page": 4}},
            {**BYTES, "annotations": SHOWN},
        ]
    },
    "annotated_alone": {"content": [text("a", annotations=SHOWN)]},
    "annotated_failed": {"content": [text("a", annotations=SHOWN)], "isError": True},
}

# What is no result of the protocol, though its tool has run.
UNREADABLE: dict[str, Any] = {
    "of_no_kind": {"content": [text("fine"), {"type": "hologram", "data": "s3cret"}]},
    "of_no_text": {"content": [{"type": "text", "text": 7}]},
    "no_list": {"content": "fine"},
}


def list_tools() -> list[Wire]:
    """List a tool for each result."""
    return [
        {"name": name, "inputSchema": {"type": "object"}, **({"outputSchema": SUM} if "promised" in name else {})}
        for name in (*RESULTS, *UNREADABLE)
    ]


def answer(message: Wire) -> Wire | None:
    """Return what is answered to a message."""
    method = message["method"]
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        me = {"name": "saying", "version": "1"}
        return {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": me}}
    if method == "tools/list":
        return {"result": {"tools": list_tools()}}
    if method == "tools/call":
        return {"result": {**RESULTS, **UNREADABLE}[message["params"]["name"]]}
    return {"error": {"code": -32601, "message": "there is no such method"}} if "id" in message else None


def main() -> None:
    """Answer until the input ends."""
    for line in sys.stdin:
        message = json.loads(line)
        said = answer(message)
        if said is not None:
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **said}) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
