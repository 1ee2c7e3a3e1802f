"""The page of one call: how it went, what was sent and what ran, who decided, and what it was answered."""

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import UUID

from sidecall.features.console.api_client import ApiFailure
from sidecall.features.console.markdown import write_markdown
from sidecall.features.console.pages.approvals import link_trace
from sidecall.features.console.pages.calls import SIGNS, STATES
from sidecall.features.console.visits import View, Visit
from sidecall.features.history.rollups import to_milliseconds
from sidecall.kernel.core.scopes import CALL, OPERATE, READ
from sidecall.kernel.ports.call_entry import to_datetime

# States of calls that have not ended.
OPEN = frozenset(("queued", "running", "awaiting_approval"))
# Characters of an answer that the page has; the rest is in the whole answer.
_LONGEST = 256 * 1024
# Of a link: longer ones are refused on the way.
_LONGEST_LINK = 6000
_HIDDEN = "[redacted]"
_UNKNOWN = 404


class Step(NamedTuple):
    """Something that happened to a call, and when."""

    at: str
    text: str


class Stretch(NamedTuple):
    """What a call did for a while, in milliseconds."""

    text: str
    took: float
    kind: str


async def show_call(visit: Visit) -> View:
    """Show one call."""
    entry = (await visit.get(f"/tool_calls/{_read_id(visit)}")).data
    tool = await visit.find(f"/tools/{entry['name']}")
    known = None if isinstance(tool, ApiFailure) else tool.data
    message = entry["message"]
    content = None if message is None else message["content"]
    is_mine = entry["caller"] == visit.reader.subject
    may_cancel = entry["status"] in OPEN and (is_mine or (visit.reader.may(OPERATE) and visit.reader.may(READ)))
    stretches = list(_list_stretches(entry))
    values = {
        "entry": entry,
        "state": STATES.get(entry["status"], entry["status"]),
        "sign": SIGNS.get(entry["status"], ""),
        "is_open": entry["status"] in OPEN,
        "tool": known,
        "steps": sorted(_list_steps(entry), key=lambda step: datetime.fromisoformat(step.at)),
        "stretches": stretches,
        "bar": _draw(stretches),
        "notes": list(_list_notes(entry)),
        "again": link_again(visit, entry, known),
        "lacks_more": known is not None and takes_more(known),
        "may_cancel": may_cancel,
        "may_replay": visit.reader.may(CALL) and known is not None and entry["status"] not in OPEN,
        "trace": link_trace(visit, entry["trace_id"]),
        "markdown": await write_markdown(content) if isinstance(content, str) else None,
        "text": _cut(content if isinstance(content, str) else _join(content)),
        "is_json": isinstance(content, str) and content.lstrip()[:1] in ("{", "["),
        "whole": _find_whole(message),
        "told": _tell_script(visit, entry, known),
    }
    return View("call.html", f"{entry['name']}: {STATES.get(entry['status'], entry['status']).lower()}", values)


def _read_id(visit: Visit) -> str:
    """Return the call's id; other routes of the API stand beside those of calls.

    Raises:
        ApiFailure: It is none.
    """
    try:
        return str(UUID(visit.names["id"]))
    except ValueError:
        raise ApiFailure(_UNKNOWN, {"detail": "There is no such call."}) from None


def _list_steps(entry: Mapping[str, Any]) -> Iterator[Step]:
    began, decided, came = entry["started_at"], entry["decided_at"], _find_arrival(entry)
    yield Step(came, f"Called by {entry['caller']}.")
    if decided is not None:
        verdict = "rejected" if entry["kind"] == "rejected" else "decided about"
        yield Step(decided, f"{verdict.capitalize()} by {entry['decided_by']}.")
    if began is not None and _measure(came, began) > 1:
        times = "" if entry["attempt"] <= 1 else f", for the {entry['attempt']}. time"
        yield Step(began, f"Started{times}.")
    if entry["ended_at"] is not None:
        yield Step(entry["ended_at"], f"Ended: {STATES.get(entry['status'], entry['status']).lower()}.")


def _list_stretches(entry: Mapping[str, Any]) -> Iterator[Stretch]:
    waited = entry["queue_ms"] or 0.0
    if entry["approval_id"] is not None and entry["decided_at"] is not None:
        took = _measure(_find_arrival(entry), entry["decided_at"])
        if took > 0:
            yield Stretch("waited for a person", took, "person")
    if waited > 0:
        yield Stretch("waited for its turn", waited, "wait")
    if entry["duration_ms"] is not None and (entry["attempts"] is None or entry["attempts"] > 0):
        times = f", {entry['attempts']} attempts" if (entry["attempts"] or 0) > 1 else ""
        yield Stretch(f"ran{times}", entry["duration_ms"], "run")


def _find_arrival(entry: Mapping[str, Any]) -> str:
    """Return when a call came: one that waited for a person was accepted long before it ran, which its id says."""
    return to_datetime(to_milliseconds(entry["id"]) / 1000).isoformat()


def _measure(first: str, last: str) -> float:
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds() * 1000


_WIDTH = 600


def _draw(stretches: list[Stretch]) -> list[tuple[float, float, str]]:
    """Return where the bar of each stretch begins, how wide it is, and its kind; the narrowest can be seen."""
    whole = sum(stretch.took for stretch in stretches)
    bars, at = [], 0.0
    for stretch in stretches:
        width = max(2.0, stretch.took / whole * _WIDTH) if whole else 2.0
        bars.append((at, min(width, _WIDTH - at), stretch.kind))
        at = min(at + width, _WIDTH - 2.0)
    return bars


def _list_notes(entry: Mapping[str, Any]) -> Iterator[str]:
    told = (entry["message"] or {}).get("response_metadata", {})
    if told.get("repaired"):
        yield f"Mended before it ran: {', '.join(map(_say, told['repaired']))}."
    if told.get("ignored_args"):
        yield f"Ignored: {', '.join(map(_say, told['ignored_args']))}."
    if entry["args"] is None:
        yield "The arguments are not kept: they were too long, or the server keeps none."
    elif _HIDDEN in json.dumps(entry["args"]):
        yield "Secrets were left out of the arguments."


def _say(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def takes_more(tool: Mapping[str, Any]) -> bool:
    """Return whether callers send a tool more than arguments, which no history keeps."""
    return tool["reads_state"] or any(it.get("from") in ("state", "context") for it in tool["injected"])


def link_again(visit: Visit, entry: Mapping[str, Any], tool: Mapping[str, Any] | None) -> str | None:
    """Return the address of the tool's page with the arguments of a call filled in; None where that cannot be."""
    args = entry["args"]
    if tool is None or not isinstance(args, dict) or not visit.reader.may(CALL):
        return None
    fragment = quote(json.dumps(args, ensure_ascii=False, separators=(",", ":")), safe="", errors="replace")
    return None if len(fragment) > _LONGEST_LINK else f"{visit.link('console/tools', entry['name'])}#{fragment}"


def _join(content: Any) -> str:
    """Return the texts of an answer that has several parts."""
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _cut(text: str) -> str:
    left = len(text) - _LONGEST
    return text if left <= 0 else f"{text[:_LONGEST]}… {left:,} more characters"


def _find_whole(message: Mapping[str, Any] | None) -> str | None:
    """Return the id of the content that has the whole of an answer that was cut."""
    address = str((message or {}).get("response_metadata", {}).get("artifact_url") or "")
    return address.rpartition("/contents/")[2] or None


def _tell_script(visit: Visit, entry: Mapping[str, Any], tool: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what the page's script needs to know."""
    annotations = (tool or {}).get("annotations", {})
    may_repeat = bool(annotations.get("read_only") or annotations.get("idempotent"))
    content = None if entry["message"] is None else entry["message"]["content"]
    return {
        "id": entry["id"],
        "name": entry["name"],
        "args": entry["args"],
        "asked": entry["asked_args"],
        "isOpen": entry["status"] in OPEN,
        "isPlain": entry["worker"] is not None,
        "mayRepeat": may_repeat,
        "hasKeys": visit.has_sessions,
        "content": content if not isinstance(content, str) or len(content) <= _LONGEST else None,
    }
