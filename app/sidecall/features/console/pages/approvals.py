"""The pages of approvals: what waits, one that is to be decided, and rules that decide alone."""

from collections.abc import Mapping
from typing import Any, get_args

from sidecall.features.console.api_client import ApiFailure
from sidecall.features.console.visits import View, Visit
from sidecall.kernel.core.scopes import DECIDE
from sidecall.kernel.ports.approvals.approval import ApprovalStatus

# The states of approvals, and what each is called in the list of states.
STATES = {it: "Waiting" if it == "pending" else it.capitalize() for it in get_args(ApprovalStatus)} | {"": "All"}
# Parameters of the API that narrow a list, as the page has them too.
_FILTERS = ("tool", "requested_by", "conversation", "trace_id", "request_id")
_MOST = 50


async def list_approvals(visit: Visit) -> View:
    """List approvals, the oldest first."""
    state = visit.query.get("status", "pending")
    state = state if state in STATES else "pending"
    narrowed = {name: visit.query[name] for name in _FILTERS if visit.query.get(name)}
    asked = {"status": state or None, "limit": _MOST, "cursor": visit.query.get("cursor")}
    answer = await visit.get("/approvals", **asked, **narrowed)
    values = {
        "state": state,
        "states": STATES,
        "narrowed": narrowed,
        "rows": [(it, find_signs(visit, it["tool_call"]["name"])) for it in answer.data],
        "next": answer.next_cursor,
    }
    return View("approvals.html", "Approvals", values)


def find_signs(visit: Visit, name: str) -> list[tuple[str, str]]:
    """Return what is known of a tool's danger; that it is gone, where it is."""
    tool = visit.request.app.state.parts.registry.get(name)
    if tool is None:
        return [("the tool is gone", "bad")]
    known = tool.options.annotations
    return [
        *([("destructive", "bad")] if known.destructive else []),
        *([("reads only", "good")] if known.read_only else []),
    ]


async def show_approval(visit: Visit) -> View:
    """Show one approval: to decide about it, or what was decided."""
    approval = (await visit.get(f"/approvals/{visit.names['id']}")).data
    name = approval["tool_call"]["name"]
    tool = await visit.find(f"/tools/{name}")
    known = {} if isinstance(tool, ApiFailure) else tool.data
    schema = approval["args_schema"] if "args_schema" in approval else known.get("args_schema")
    may_decide = visit.reader.may(DECIDE) and approval["status"] == "pending"
    values = {
        "approval": approval,
        "name": name,
        "signs": find_signs(visit, name),
        "text": approval.get("tool_description") or known.get("description"),
        "may_decide": may_decide,
        "is_own": approval["requested_by"] == visit.reader.subject,
        "trace": link_trace(visit, approval["trace_id"]),
        "definitions": approval.get("definitions"),
        "told": {"approval": approval, "schema": schema} if may_decide else None,
    }
    return View("approval.html", f"{name}: {STATES.get(approval['status'], approval['status']).lower()}", values)


def link_trace(visit: Visit, trace_id: str | None) -> str | None:
    """Return where a trace is shown; None where nothing is known of that."""
    address: str | None = visit.settings.trace_url
    return None if address is None or trace_id is None else address.replace("{trace_id}", trace_id)


async def list_rules(visit: Visit) -> View:
    """List the decisions that hold for later calls."""
    answer = await visit.get("/approvals/rules", limit=_MOST, cursor=visit.query.get("cursor"))
    parts = visit.request.app.state.parts
    contracts: Mapping[str, Any] = {name: await _find_hash(visit, name) for name in {it["tool"] for it in answer.data}}
    rows = [(it, parts.registry.get(it["tool"]) is not None, contracts[it["tool"]]) for it in answer.data]
    return View("rules.html", "Rules", {"rows": rows, "next": answer.next_cursor})


async def _find_hash(visit: Visit, name: str) -> str | None:
    found = await visit.find(f"/tools/{name}")
    return None if isinstance(found, ApiFailure) else found.data["hash"]
