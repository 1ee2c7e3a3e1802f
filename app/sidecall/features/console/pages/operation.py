"""Pages for operators: who has decided what, and MCP servers whose changed tools wait to be accepted."""

from typing import get_args

from sidecall.features.audit.stores import AuditAction
from sidecall.features.console.api_client import ApiFailure
from sidecall.features.console.visits import View, Visit

_FILTERS = ("action", "by", "since", "until")
_MOST = 100
_WRONG = 422
# How an action is coloured; others are not.
_SIGNS = {"denied": "bad", "rejected": "bad", "approved": "good", "tools_accepted": "good"}


async def list_audit(visit: Visit) -> View:
    """List decisions and refusals, latest first."""
    kept = {name: visit.query[name] for name in _FILTERS if visit.query.get(name)}
    found = await visit.find("/audit", **kept, limit=_MOST, cursor=visit.query.get("cursor"))
    if isinstance(found, ApiFailure) and found.status != _WRONG:
        raise found
    values = {
        "kept": kept,
        "wrong": found.problem.get("detail") if isinstance(found, ApiFailure) else None,
        "rows": [] if isinstance(found, ApiFailure) else found.data,
        "next": None if isinstance(found, ApiFailure) else found.next_cursor,
        "is_first": not visit.query.get("cursor"),
        "actions": get_args(AuditAction),
        "signs": _SIGNS,
    }
    return View("audit.html", "Audit", values, _WRONG if values["wrong"] else 200)


async def list_mcp_servers(visit: Visit) -> View:
    """List the MCP servers whose tools are offered here, and what waits of them."""
    servers = (await visit.get("/mcp-servers")).data
    values = {"servers": servers, "waits": any(server["waiting_tools"] for server in servers)}
    return View("mcp_servers.html", "MCP servers", values)
