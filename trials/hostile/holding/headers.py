"""Headers and queries of 31 KB, full of what is costly to read."""

from urllib.parse import quote

from trials.hostile.holding.case import Ask, Case, Client, after, send_form

_LONG = 31_000
# What readers go through again and again where they are not careful.
_FILLINGS = {
    "quotation marks": '"' * _LONG,
    "escaped ones": '"' + '\\"' * (_LONG // 2),
    "escapes without an end": '"' + "\\" * (_LONG - 1),
    "commas": "a," * (_LONG // 2),
    "semicolons": "a;q=0.1,b=" + ";" * (_LONG - 10),
    "blanks": "a;" + " " * (_LONG - 4) + "b",
    "ranges": "bytes=" + "0-1," * (_LONG // 4),
    "digits": "1" * _LONG,
    "brackets": "[" * _LONG,
    "equals signs": "a=" * (_LONG // 2),
    "slashes": "text/event-stream/" * (_LONG // 18),
    "percent signs": "%2" * (_LONG // 2),
}
_HEADERS = (
    *("Accept", "Accept-Encoding", "Authorization", "Baggage", "Cache-Control", "Content-Type", "Cookie"),
    *("Idempotency-Key", "If-Match", "If-None-Match", "If-Range", "Last-Event-ID", "Origin", "Prefer", "Range"),
    *("Sidecall-Conversation", "Traceparent", "Tracestate", "X-Request-Id", "X-Sidecall-Context"),
)
_CALL = b'{"name": "echo", "args": {"value": 1}, "id": "call_1"}'
_NONE = "01890a5d-ac96-774b-bcce-b302099a8057"
_FORM = "multipart/form-data; boundary="


def _fill(header: str) -> Ask:
    """Send a header with each filling, to a route of each kind."""

    def ask_with(value: str) -> Ask:
        def ask(client: Client) -> object:
            headers = {"Content-Type": "application/json", header: value}
            client.get("/tools", headers=headers)
            client.get("/contents/none", headers=headers)
            client.get(f"/tool_calls/{_NONE}/events", headers=headers)
            client.post("/contents", content=b"text", headers=headers)
            client.post("/workspaces/two/files", content=b"--edge--", headers=headers)
            client.post("/mcp", content=b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}', headers=headers)
            client.post("/tools/echo/call", content=b'{"value": 1}', headers=headers)
            return client.post("/tool_calls", content=_CALL, headers=headers)

        return ask  # type: ignore[return-value]

    return after(*(ask_with(value) for value in _FILLINGS.values()))


def _query(path: str) -> Ask:
    """Send a query with each filling."""
    return after(*(lambda client, value=value: client.get(path + quote(value)[:_LONG]) for value in _FILLINGS.values()))


CASES = [
    *(Case(f"the header {name}", f"31 KB of each of {len(_FILLINGS)} fillings", _fill(name)) for name in _HEADERS),
    *(
        Case(f"GET {path}", f"31 KB of each of {len(_FILLINGS)} fillings", _query(path))
        for path in (
            *("/tools?name=", "/tools?cursor=", "/tools/search?q=", "/tools/", "/tool_calls?cursor="),
            *(
                "/tool_calls?since=",
                "/contents/none?path=$",
                "/contents/none?lines=",
                "/approvals?cursor=",
                "/nowhere/",
            ),
        )
    ),
    Case("a form with a long boundary", "31 KB", send_form("/files", b"--a--", _FORM + "a" * _LONG)),
    Case("a form with many parameters", "31 KB", send_form("/files", b"--a--", _FORM + '"' + ";" * _LONG)),
]
