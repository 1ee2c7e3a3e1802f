"""The pages of tools: which there are, and one with the form to try it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidecall.features.console.api_client import ApiFailure
from sidecall.features.console.render import show_json
from sidecall.features.console.visits import View, Visit
from sidecall.kernel.core.scopes import CALL

# Tools of one page, of all that there may be.
_MOST = 200
_LAST_CALLS = 3
# Characters of a description that a list may show: two lines are seen, the rest is found.
_LONGEST = 1000
# Tags that are offered to narrow a list.
_MOST_TAGS = 24
# The forms of a definition, as the API and as people name them.
FORMS = {
    "openai": "OpenAI Chat",
    "openai-responses": "OpenAI Responses",
    "anthropic": "Anthropic",
    "gemini": "Gemini",
    "mcp": "MCP",
    "json_schema": "JSON Schema",
}
# Characters of JSON to a token, as a rule of thumb.
_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class ToolRow:
    """A tool in the list."""

    name: str
    text: str
    tags: Sequence[str]
    signs: Sequence[tuple[str, str]]


async def list_tools(visit: Visit) -> View:
    """List the tools that the reader sees; with `q` those that have all of its words."""
    wanted, tag = visit.query.get("q", "").lower().split(), visit.query.get("tag") or None
    stretch = {} if wanted else {"limit": _MOST, "cursor": visit.query.get("cursor")}
    answer = await visit.get("/tools", format="json_schema", tag=tag, **stretch)
    rows = [_make_row(visit, it) for it in answer.data]
    found = [row for row in rows if _has_words(row, wanted)]
    tags = Counter(it for row in found for it in row.tags)
    values = {
        "rows": found[:_MOST],
        "left_out": max(0, len(found) - _MOST),
        "next": answer.next_cursor,
        "is_first": not visit.query.get("cursor"),
        "tags": sorted(it for it, _ in tags.most_common(_MOST_TAGS)),
        "tag": tag,
        "words": visit.query.get("q", ""),
    }
    return View("tools.html", "Tools", values)


def _has_words(row: ToolRow, words: Sequence[str]) -> bool:
    text = f"{row.name} {row.text} {' '.join(row.tags)}".lower()
    return all(word in text for word in words)


def _make_row(visit: Visit, definition: Mapping[str, Any]) -> ToolRow:
    name = str(definition.get("title", ""))
    text = str(definition.get("description", "")).strip()[:_LONGEST].partition("\n\n")[0]
    tool = visit.request.app.state.parts.registry.get(name)
    if tool is None:  # It has just gone.
        return ToolRow(name, text, (), ())
    return ToolRow(name, text, tool.options.tags, _list_signs(tool.options.annotations, tool.options))


def _list_signs(annotations: Any, options: Any) -> list[tuple[str, str]]:
    signs = []
    if options.requires_approval is not False:
        signs.append(("asks a person", "warn"))
    if annotations.destructive:
        signs.append(("destructive", "bad"))
    if annotations.read_only:
        signs.append(("reads only", "good"))
    if options.deprecated is not None:
        signs.append(("deprecated", "warn"))
    return signs


async def show_tool(visit: Visit) -> View:
    """Show one tool with the form to try it."""
    name = visit.names["name"]
    tool = (await visit.get(f"/tools/{name}")).data
    asked = visit.query.get("form")
    form = asked if asked in FORMS else None
    text = "" if form is None else await _write_definition(visit, name, form)
    calls = await visit.find("/tool_calls", name=name, limit=_LAST_CALLS)
    values = {
        "tool": tool,
        "signs": _sign_tool(tool),
        # Most are among the notes, in more words.
        "obstacles": [it for it in tool["strict_obstacles"] if not any(it in note for note in tool["notes"])],
        "form": form,
        "forms": FORMS,
        "definition": text,
        "tokens": len(text.replace(" ", "").replace("\n", "")) // _PER_TOKEN,
        "calls": None if isinstance(calls, ApiFailure) else calls.data,
        "needs_more": any(it["required"] and it.get("from") in ("state", "context") for it in tool["injected"]),
        "may_keep": visit.own_secrets.takes_secrets,
        "may_call": visit.reader.may(CALL) and not tool["hosted"],
        "told": _tell_script(visit, tool),
    }
    return View("tool.html", name, values)


async def _write_definition(visit: Visit, name: str, form: str) -> str:
    definition = await visit.find("/tools", name=name, format=form)
    return "" if isinstance(definition, ApiFailure) else show_json(definition.data)


def _sign_tool(tool: Mapping[str, Any]) -> list[tuple[str, str]]:
    approval = {True: "asks a person", None: "may ask a person", False: None}[tool["requires_approval"]]
    known = tool["annotations"]
    signs = [
        (approval, "warn"),
        ("destructive" if known["destructive"] else None, "bad"),
        ("reads only" if known["read_only"] else None, "good"),
        ("idempotent" if known["idempotent"] else None, "good"),
        ("deprecated" if tool["deprecated"] is not None else None, "warn"),
        ("run by its provider" if tool["hosted"] else None, ""),
    ]
    return [(text, kind) for text, kind in signs if text is not None]


def _tell_script(visit: Visit, tool: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the page's script needs to know."""
    given = [it for it in tool["injected"] if it.get("from") in ("state", "context")]
    return {
        "name": tool["name"],
        "schema": tool["args_schema"],
        "given": given,
        "readsState": tool["reads_state"],
        "hasKeys": visit.has_sessions,
    }
