"""The scope that each request needs, checked before routing, so that no route can omit it."""

import re
from collections.abc import Mapping

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.scopes import CALL, DECIDE, OPERATE, READ, require_scope

# None means that any authenticated caller may ask, and sees what is its own.
_EXACT: Mapping[tuple[str, str], str | None] = {
    ("GET", "/tools"): None,
    ("GET", "/tools/search"): None,
    ("GET", "/openapi/tools.json"): None,
    ("GET", "/whoami"): None,
    ("POST", "/tool_calls"): CALL,
    ("POST", "/tool_calls/batch"): CALL,
    ("GET", "/tool_calls"): READ,
    ("GET", "/tool_calls/export"): READ,
    ("GET", "/tool_calls/summary"): READ,
    ("POST", "/contents"): CALL,
    ("GET", "/files"): CALL,
    ("POST", "/files"): CALL,
    ("GET", "/vector_stores"): CALL,
    ("POST", "/vector_stores"): CALL,
    ("GET", "/approvals"): DECIDE,
    ("GET", "/approvals/rules"): DECIDE,
    # A client of MCP lists and calls with the same credentials.
    ("GET", "/mcp"): CALL,
    ("POST", "/mcp"): CALL,
    ("DELETE", "/mcp"): CALL,
    ("GET", "/secrets"): CALL,
    ("GET", "/oauth/tokens"): CALL,
    ("GET", "/audit"): OPERATE,
    ("GET", "/metrics"): OPERATE,
    ("GET", "/status"): OPERATE,
}
# Of one of several; of calls and approvals the route itself tells those of others apart.
_ONE = "[^/]+"
_PATTERNS: tuple[tuple[str, re.Pattern[str], str | None], ...] = tuple(
    (method, re.compile(pattern, re.DOTALL), scope)
    for method, pattern, scope in (
        ("GET", f"/tools/{_ONE}", None),
        ("POST", f"/tools/{_ONE}/call", CALL),
        ("GET", f"/tool_calls/{_ONE}", None),
        ("GET", f"/tool_calls/{_ONE}/events", None),
        ("POST", f"/tool_calls/{_ONE}/cancel", None),
        ("POST", f"/tool_calls/{_ONE}/replay", CALL),
        ("GET", f"/contents/{_ONE}", CALL),
        ("DELETE", f"/contents/{_ONE}", CALL),
        ("GET", f"/workspaces/{_ONE}", CALL),
        ("POST", f"/workspaces/{_ONE}", CALL),
        ("DELETE", f"/workspaces/{_ONE}", CALL),
        ("GET", f"/workspaces/{_ONE}/files", CALL),
        ("POST", f"/workspaces/{_ONE}/files", CALL),
        ("GET", f"/workspaces/{_ONE}/files/{_ONE}", CALL),
        ("DELETE", f"/workspaces/{_ONE}/files/{_ONE}", CALL),
        ("GET", f"/workspaces/{_ONE}/files/{_ONE}/content", CALL),
        ("GET", f"/files/{_ONE}", CALL),
        ("DELETE", f"/files/{_ONE}", CALL),
        ("GET", f"/files/{_ONE}/content", CALL),
        ("GET", f"/vector_stores/{_ONE}", CALL),
        ("POST", f"/vector_stores/{_ONE}", CALL),
        ("DELETE", f"/vector_stores/{_ONE}", CALL),
        ("POST", f"/vector_stores/{_ONE}/search", CALL),
        ("GET", f"/vector_stores/{_ONE}/files", CALL),
        ("POST", f"/vector_stores/{_ONE}/files", CALL),
        ("GET", f"/vector_stores/{_ONE}/files/{_ONE}", CALL),
        ("DELETE", f"/vector_stores/{_ONE}/files/{_ONE}", CALL),
        ("PUT", f"/secrets/{_ONE}", CALL),
        ("DELETE", f"/secrets/{_ONE}", CALL),
        ("DELETE", f"/oauth/tokens/{_ONE}", CALL),
        ("GET", f"/approvals/{_ONE}", None),
        ("POST", f"/approvals/{_ONE}", DECIDE),
        ("DELETE", f"/approvals/rules/{_ONE}", DECIDE),
    )
)


def find_scope(method: str, path: str) -> str | None:
    """Return the scope that a request needs, or None.

    Raises:
        LookupError: There is no such request.
    """
    method = "GET" if method == "HEAD" else method
    if (method, path) in _EXACT:
        return _EXACT[method, path]
    for known, pattern, scope in _PATTERNS:
        if known == method and pattern.fullmatch(path):
            return scope
    raise LookupError(path)


def permit(method: str, path: str, caller: Caller) -> None:
    """Check that a caller may send a request; unknown routes pass.

    Raises:
        MissingScope: It lacks the scope.
    """
    try:
        scope = find_scope(method, path)
    except LookupError:
        return
    if scope is not None:
        require_scope(caller, scope)
