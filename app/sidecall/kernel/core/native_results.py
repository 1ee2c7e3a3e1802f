"""Results of native tools, and the parts of a provider's call item that its answer repeats."""

import base64
import re
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeGuard

from sidecall.kernel.core.messages import ContentBlock, ToolCall, ToolMessage

# Where a message has what its answer repeats of the call's item.
ITEM = "item"
# Of an item: checks that a person has to acknowledge, and whether one has.
CHECKS = "pending_safety_checks"

DECISION = "safety_decision"

ACKNOWLEDGED = "acknowledged"
# Of an item: that its model was cut off writing it.
CUT_OFF = "is_cut_off"
# The type of a part of Gemini's; and, of such an item, that it has no id.
PART, UNNAMED = "part", "is_unnamed"
# The type of a step of Gemini's, whose own type is that of OpenAI's functions.
STEP = "step"

# Who searches for tools: the provider, or this server, by words or by regular expressions.
SearchBy = Literal["provider", "bm25", "regex"]
# The names of Anthropic's searches, which its models know.
SEARCH_BY_WORDS = "tool_search_tool_bm25"
SEARCH_BY_PATTERN = "tool_search_tool_regex"
OWN_SEARCHES: Mapping[SearchBy, str] = {"bm25": SEARCH_BY_WORDS, "regex": SEARCH_BY_PATTERN}
# The name of the tool that asks whether a provider may call one elsewhere.
APPROVAL = "mcp_approval"

_STREAMS = ("stdout", "stderr")


def settle_item(message: ToolMessage, call: ToolCall, *, approved: bool = False) -> None:
    """Set on a message the item parts of this call that its answer repeats, and clear those of others."""
    said = message.additional_kwargs
    kept = {key: value for key, value in said.items() if key not in (ITEM, OUTPUTS)}
    if call.item is not None:
        known = said.get(ITEM)  # Where the same call was answered before.
        is_acknowledged = approved or (isinstance(known, dict) and known.get(ACKNOWLEDGED) is True)
        wants = is_acknowledged and wants_acknowledgement(call)
        kept[ITEM] = {**call.item, ACKNOWLEDGED: True} if wants else call.item
        outputs = said.get(OUTPUTS)
        if are_outputs(outputs):
            kept[OUTPUTS] = limit_outputs(outputs, call.item.get("max_output_length"))
    message.additional_kwargs = kept


def wants_acknowledgement(call: ToolCall) -> bool:
    """Return whether a provider asks for a person's acknowledgement of the action."""
    item = call.item or {}
    return bool(item.get(CHECKS)) or (item.get(DECISION) or {}).get("decision") == "require_confirmation"


def are_outputs(value: Any) -> TypeGuard[list[dict[str, Any]]]:
    """Return whether a value is a list of command outputs; a tool's own message may hold anything there."""
    return isinstance(value, list) and all(
        isinstance(item, dict) and all(isinstance(item.get(name), str) for name in _STREAMS) for item in value
    )


def limit_outputs(outputs: Sequence[Mapping[str, Any]], most: int | None) -> list[dict[str, Any]]:
    """Cut the outputs of commands to this many characters in total."""
    limited = [dict(output) for output in outputs]
    if most is None:
        return limited
    room = most
    for output in limited:
        for name in _STREAMS:
            output[name] = _cut(output[name], room)
            room -= len(output[name])
    return limited


def bound_outputs(message: ToolMessage, most: int) -> None:
    """Cut the outputs of commands to this many bytes in total."""
    outputs = message.additional_kwargs.get(OUTPUTS)
    if not are_outputs(outputs):
        return
    texts = [output[name] for output in outputs for name in _STREAMS]
    size = sum(len(text.encode(errors="replace")) for text in texts)
    if size > most:
        limited = limit_outputs(outputs, sum(map(len, texts)) * most // size)
        message.additional_kwargs = {**message.additional_kwargs, OUTPUTS: limited}


def _cut(text: str, room: int) -> str:
    """Keep the head and tail of a text, with a note between them if there is room."""
    if len(text) <= room:
        return text
    note = f"\n[… {len(text) - room} characters left out …]\n"
    if len(note) * 2 > room:
        return text[: room - 1] + "…" if room else ""
    room -= len(note)
    return text[: (room + 1) // 2] + note + text[len(text) - room // 2 :]


# The key of a message's shell outputs; its content is a readable form of them.
OUTPUTS = "item_output"
# The key of a text block's browser state; the text is a readable form of it.
BROWSER_STATE = "browser_state"


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of one shell command; a shell returns a list of them, one for each command.

    A failed command does not fail the call: the model reads its exit code.
    """

    stdout: str = ""
    stderr: str = ""
    exit_code: int | None = 0
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class PatchResult:
    """The result of a patch: whether it was applied, and a text for the model."""

    completed: bool
    output: str = ""


@dataclass(frozen=True, slots=True)
class Screenshot:
    """What a screen shows after what was done.

    `url` is the page's, which Gemini's models want to know. `error` says what could not be done; the model sees the
    screen all the same where its provider's answer has no room for words.
    """

    png: bytes = field(repr=False)
    url: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class BrowserState:
    """Which tabs a browser has, and what changed: for members of Anthropic's browser toolset, in a list with the rest.

    Tabs have `tab_id`, `title`, `url` and `active`; a change is a dict as Anthropic's API takes it.
    """

    tabs: Sequence[Mapping[str, Any]]
    state_changes: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class FoundTools:
    """What a search for tools has found: the definitions, as the Responses API takes them."""

    tools: Sequence[Mapping[str, Any]]


NativeResult = CommandResult | PatchResult | Screenshot | BrowserState | FoundTools

_RESULTS = (CommandResult, PatchResult, Screenshot, BrowserState, FoundTools)


def is_native_type(annotation: Any) -> bool:
    """Return whether an annotation names one of these results, which have no text schema."""
    parts = typing.get_args(annotation)
    return annotation in _RESULTS or any(map(is_native_type, parts))


def read_native(value: Any) -> ToolMessage | None:
    """Convert such a result to a message that any model can read; return None for anything else."""
    if isinstance(value, _RESULTS):
        return _write([value])
    # Each type is looked at once: even a long list has few.
    if not isinstance(value, list | tuple) or not any(issubclass(kind, _RESULTS) for kind in {*map(type, value)}):
        return None
    return _write(value) if all(isinstance(item, (*_RESULTS, str)) for item in value) else None


def _write(values: Sequence[NativeResult | str]) -> ToolMessage:
    commands = [value for value in values if isinstance(value, CommandResult)]
    if len(commands) == len(values):
        return ToolMessage(_format_commands(commands), additional_kwargs={OUTPUTS: [asdict(it) for it in commands]})
    failed = any(map(_has_failed, values))
    blocks = [block for value in values for block in _write_blocks(value)]
    found = next((value for value in values if isinstance(value, FoundTools)), None)
    only = blocks[0] if len(blocks) == 1 else {}
    return ToolMessage(
        only["text"] if only.keys() == {"type", "text"} else blocks,
        artifact=None if found is None else _list_found(found),
        status="error" if failed else "success",
    )


def _has_failed(value: NativeResult | str) -> bool:
    if isinstance(value, PatchResult):
        return not value.completed
    return isinstance(value, Screenshot) and value.error is not None


def _write_blocks(value: NativeResult | str) -> Iterator[ContentBlock]:
    if isinstance(value, Screenshot):
        said = [value.error, None if value.url is None else f"The page is {value.url}"]
        yield from ({"type": "text", "text": text} for text in said if text)
        png = base64.b64encode(value.png).decode()
        # That of the page again, for forms that have a place for it.
        beside = {} if value.url is None else {"extras": {"url": value.url}}
        yield {"type": "image", "base64": png, "mime_type": "image/png", **beside}
    elif isinstance(value, BrowserState):
        state = write_browser_state(value.tabs, value.state_changes)
        yield {"type": "text", "text": list_tabs(state), "extras": {BROWSER_STATE: state}}
    else:
        yield {"type": "text", "text": _word(value)}


def _word(value: CommandResult | PatchResult | FoundTools | str) -> str:
    if isinstance(value, CommandResult):
        return _format_commands([value])
    if isinstance(value, FoundTools):
        names = [str(name) for name in map(_find_name, value.tools) if name]
        return "\n".join(names) or "No tool was found."
    if isinstance(value, PatchResult):
        return value.output or ("Done." if value.completed else "The patch was not applied.")
    return value


def _find_name(tool: Mapping[str, Any]) -> Any:
    return tool.get("name") or (tool.get("function") or {}).get("name")


def _list_found(found: FoundTools) -> dict[str, Any]:
    tools = [dict(tool) for tool in found.tools]
    return {"names": [name for tool in tools if (name := _find_name(tool))], "tools": tools}


def _format_commands(results: Sequence[CommandResult]) -> str:
    if len(results) == 1:
        return _format_command(results[0])
    return "\n".join(
        f"--- command {number} of {len(results)} ---\n{_format_command(result)}"
        for number, result in enumerate(results, start=1)
    )


def _format_command(result: CommandResult) -> str:
    said = [result.stdout.removesuffix("\n"), result.stderr.removesuffix("\n")]
    if result.timed_out:
        said.append("[timed out]")
    elif result.exit_code != 0:
        said.append(f"[exit code {result.exit_code}]")
    return "\n".join(text for text in said if text) or "[no output]"


# Characters in a page's own text that would break or reorder its line, and the line's maximum length.
_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST = 4096
_FOLDED = ("url", "title", "error")


def write_browser_state(tabs: Sequence[Mapping[str, Any]], changes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Write the block of an answer; texts of pages are one bounded line each."""
    said = {"type": "browser_state", "tabs": [_fold(tab) for tab in tabs]}
    return {**said, "state_changes": [_fold(change) for change in changes]} if changes else said


def _fold(told: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: fold_line(value) if key in _FOLDED and isinstance(value, str) else value for key, value in told.items()
    }


def fold_line(text: str) -> str:
    """Write a text of a page on one line of bounded length."""
    return _UNSAFE.sub(" ", _SURROGATE.sub("\ufffd", text)).strip()[:_MOST]


def list_tabs(state: Mapping[str, Any]) -> str:
    """List the tabs in words, for models that have no such block."""
    lines = [
        f"{'*' if tab.get('active') else '-'} [{tab.get('tab_id')}] {tab.get('title') or ''} {tab.get('url') or ''}"
        for tab in state["tabs"]
    ]
    changes = [" ".join(str(value) for value in change.values()) for change in state.get("state_changes", ())]
    return "\n".join([f"Open tabs ({len(lines)}):", *lines, *changes])
