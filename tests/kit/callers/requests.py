"""One request of each route, with the scope that it takes and what it is answered to whom; None where it takes none."""

from dataclasses import dataclass
from typing import Any

NO_ID = "01890a5d-ac96-774b-bcce-b302099a8057"
# Ids that do not exist, by the names of path parameters.
NONE = {
    "tool": "who",
    "call": NO_ID,
    "held": NO_ID,
    "content": "none",
    "rule": "none",
    "approval": "none",
    "provider": "none",
    "workspace": "none",
    "file": "none",
    "store": "none",
    "upload": "none",
    "server": "none",
}


@dataclass(frozen=True, slots=True)
class Gate:
    """A request about something of a caller who may do everything, and the status of the answer.

    `poor` is the status for a caller of the same tenant without any scope, `other` for one of another tenant with all.
    """

    method: str
    path: str
    scope: str | None
    own: int
    poor: int
    other: int
    body: Any = None
    query: str = ""

    def fill(self, names: dict[str, str]) -> str:
        """Return its path about something that there is, or is not."""
        return self.path.format(**names)

    @property
    def is_about_one(self) -> bool:
        """Whether the request is about one object of a caller, rather than a list."""
        return "{" in self.path and self.path not in (
            "/tools/{tool}",
            "/tools/{tool}/call",
            "/secrets/{new}",
            "/workspaces/{new}",
            "/workspaces/{new}/files",
            "/mcp-servers/{server}/accept",
        )


CALL = {"name": "look", "args": {"word": "tea"}, "id": "call_1", "type": "tool_call"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
GATES = [
    Gate("GET", "/tools", None, 200, 200, 200),
    Gate("GET", "/tools/search", None, 200, 200, 200, query="?q=look"),
    Gate("GET", "/tools/{tool}", None, 200, 200, 200),
    Gate("POST", "/tools/{tool}/call", "tools:call", 200, 403, 200, {"word": "tea"}),
    Gate("GET", "/openapi/tools.json", None, 200, 200, 200),
    Gate("GET", "/whoami", None, 200, 200, 200),
    Gate("POST", "/tool_calls", "tools:call", 200, 403, 200, CALL),
    Gate("POST", "/tool_calls/batch", "tools:call", 200, 403, 200, [CALL]),
    Gate("GET", "/tool_calls", None, 200, 200, 200),
    Gate("GET", "/tool_calls/export", None, 200, 200, 200),
    Gate("GET", "/tool_calls/summary", None, 200, 200, 200),
    Gate("GET", "/tool_calls/{call}", None, 200, 404, 404),
    Gate("GET", "/tool_calls/{call}/events", None, 200, 404, 404),
    Gate("POST", "/tool_calls/{held}/cancel", None, 200, 404, 404),
    Gate("POST", "/tool_calls/{call}/replay", "tools:call", 202, 403, 404),
    Gate("POST", "/contents", "tools:call", 201, 403, 201, {"a": 1}),
    Gate("GET", "/contents/{content}", "tools:call", 200, 403, 404),
    Gate("DELETE", "/contents/{content}", "tools:call", 204, 403, 404),
    Gate("POST", "/workspaces/{new}/files", "tools:call", 404, 403, 404, {"file_id": NO_ID}),
    Gate("POST", "/workspaces/{new}", "tools:call", 200, 403, 200, {"expires_after": {"minutes": 5}}),
    Gate("GET", "/workspaces/{workspace}", "tools:call", 200, 403, 404),
    Gate("GET", "/workspaces/{workspace}/files", "tools:call", 200, 403, 404),
    Gate("GET", "/workspaces/{workspace}/files/{file}", "tools:call", 200, 403, 404),
    Gate("GET", "/workspaces/{workspace}/files/{file}/content", "tools:call", 200, 403, 404),
    Gate("GET", "/conversations", None, 200, 200, 200),
    Gate("GET", "/conversations/{workspace}", None, 200, 404, 404),
    Gate("DELETE", "/workspaces/{workspace}/files/{file}", "tools:call", 200, 403, 404),
    Gate("DELETE", "/workspaces/{workspace}", "tools:call", 204, 403, 404),
    Gate("GET", "/files", "tools:call", 200, 403, 200),
    Gate("POST", "/files", "tools:call", 415, 403, 415, {"file": "none"}),
    Gate("GET", "/files/{upload}", "tools:call", 200, 403, 404),
    Gate("GET", "/files/{upload}/content", "tools:call", 200, 403, 404),
    Gate("GET", "/vector_stores", "tools:call", 200, 403, 200),
    Gate("POST", "/vector_stores", "tools:call", 200, 403, 200, {"name": "new"}),
    Gate("GET", "/vector_stores/{store}", "tools:call", 200, 403, 404),
    Gate("POST", "/vector_stores/{store}", "tools:call", 200, 403, 404, {"name": "renamed"}),
    Gate("POST", "/vector_stores/{store}/search", "tools:call", 200, 403, 404, {"query": "a"}),
    Gate("GET", "/vector_stores/{store}/files", "tools:call", 200, 403, 404),
    Gate("POST", "/vector_stores/{store}/files", "tools:call", 404, 403, 404, {"file_id": NO_ID}),
    Gate("GET", "/vector_stores/{store}/files/{upload}", "tools:call", 200, 403, 404),
    Gate("DELETE", "/vector_stores/{store}/files/{upload}", "tools:call", 200, 403, 404),
    Gate("DELETE", "/vector_stores/{store}", "tools:call", 200, 403, 404),
    Gate("DELETE", "/files/{upload}", "tools:call", 200, 403, 404),
    Gate("GET", "/approvals", "approvals:decide", 200, 403, 200),
    Gate("GET", "/approvals/rules", "approvals:decide", 200, 403, 200),
    Gate("DELETE", "/approvals/rules/{rule}", "approvals:decide", 204, 403, 404),
    Gate("GET", "/approvals/{approval}", None, 200, 404, 404),
    Gate("POST", "/approvals/{approval}", "approvals:decide", 200, 403, 404, {"decision": "approve"}),
    Gate("GET", "/secrets", "tools:call", 200, 403, 200),
    Gate("PUT", "/secrets/{new}", "tools:call", 204, 403, 204, {"value": "new"}),
    Gate("DELETE", "/secrets/{secret}", "tools:call", 204, 403, 404),
    Gate("GET", "/oauth/tokens", "tools:call", 200, 403, 200),
    Gate("DELETE", "/oauth/tokens/{provider}", "tools:call", 404, 403, 404),
    Gate("GET", "/audit", "server:operate", 200, 403, 200),
    Gate("GET", "/metrics", "server:operate", 200, 403, 200),
    Gate("GET", "/status", "server:operate", 200, 403, 200),
    Gate("GET", "/mcp-servers", "server:operate", 200, 403, 200),
    Gate("POST", "/mcp-servers/{server}/accept", "server:operate", 404, 403, 404, {}),
    Gate("POST", "/reload", "server:operate", 200, 403, 200),
]
# The other way in; REST's document does not have it.
MCP_GATES = [
    Gate("POST", "/mcp", "tools:call", 200, 403, 200, PING),
    Gate("GET", "/mcp", "tools:call", 405, 403, 405),
    Gate("DELETE", "/mcp", "tools:call", 405, 403, 405),
]
# Pages of the console find out by themselves who asks; `tests/features/console` says what they answer to whom.
BY_PAGE = (
    *(("GET", path) for path in ("/console", "/console/{path}", "/console/static/{path}")),
    *(("POST", path) for path in ("/console/session", "/console/session/end")),
)
# For browsers of persons: only the sealed link authenticates them.
BY_LINK = (("GET", "/oauth/start"), ("POST", "/oauth/start"), ("GET", "/oauth/callback"))
# Served to everybody, with any credential.
OPEN = ("/", "/docs", "/docs/assets/swagger-ui.css", "/openapi.json", "/healthz", "/readyz",
        "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/below")  # fmt: skip
REQUESTS = [(gate.method, gate.fill({**NONE, "secret": "who", "new": "who"}), gate.scope) for gate in GATES]
