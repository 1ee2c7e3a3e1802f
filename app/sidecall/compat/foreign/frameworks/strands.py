"""Read tools of Strands."""

import asyncio
import inspect
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

from sidecall.compat.foreign.frameworks.media import write_media, write_text
from sidecall.compat.foreign.frameworks.reader import Reader, Source, is_blocking
from sidecall.compat.foreign.frameworks.results import CallState, with_artifact
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.messages import BlockList
from sidecall.kernel.json_data.to_json import to_text
from sidecall.kernel.ports.approvals.approval import ApprovalRequired

_NO_AGENT = "takes the agent that runs it, of which only its state is here"


def describe(it: Any) -> Source:
    """Describe a tool by its specification; what it yields before its result is progress."""
    said = it.tool_spec
    function = getattr(it, "_tool_func", None)
    schema = said["inputSchema"]

    async def run(args: dict[str, Any], context: ToolContext) -> Any:
        state = CallState(context)
        agent = _make_agent(state.values, _find_reply(context))
        use = {"toolUseId": context.tool_call_id, "name": it.tool_name, "input": args}
        beside = dict(context.context) if isinstance(context.context, Mapping) else {}
        result: Any = None
        async for event in it.stream(use, {**beside, "agent": agent}):
            result = _read_event(event, context)
        return state.add_update(_read_result(result), agent.state.get())

    return Source(
        name=it.tool_name,
        description=said.get("description", ""),
        schema=dict(schema.get("json", schema)),
        run=run,
        written=function or it,
        is_blocking=function is not None and is_blocking(function),
        lost=(_NO_AGENT,) if function is not None and "agent" in inspect.signature(function).parameters else (),
    )


def _find_reply(context: ToolContext) -> str | None:
    """Return a person's words to what the tool has asked, or the decision; None before they have answered."""
    if context.rejection is not None:
        return context.reply or "reject"
    return (context.reply or "approve") if context.approved or context.resumed is not None else None


class _Interrupts(dict[str, Any]):
    """The interrupts of a call; once a person has answered, each of them has the answer."""

    def __init__(self, reply: str | None) -> None:
        super().__init__()
        self._reply = reply

    def setdefault(self, key: str, default: Any = None) -> Any:
        known = super().setdefault(key, default)
        if known is not None and self._reply is not None:
            known.response = self._reply
        return known


def _make_agent(state: dict[str, Any], reply: str | None) -> Any:
    """Make what stands for the agent: it has the caller's state."""
    if find_spec("strands") is None:  # A module may be a tool of Strands without it.
        return SimpleNamespace(name="sidecall", state=SimpleNamespace(get=lambda key=None: _look_up(state, key)))
    kind = import_module("strands.types.json_dict").JSONSerializableDict
    return SimpleNamespace(
        name="sidecall", state=kind(state), _interrupt_state=SimpleNamespace(interrupts=_Interrupts(reply))
    )


def _look_up(state: dict[str, Any], key: str | None) -> Any:
    return dict(state) if key is None else state.get(key)


def _read_event(event: Any, context: ToolContext) -> Any:
    """Return the result that an event carries, if it is one; tell others as progress."""
    kind = type(event).__name__
    if kind == "ToolInterruptEvent":
        asked = event.interrupts[0]
        raise ApprovalRequired(asked.name, payload=asked.reason, state={"interrupt": asked.name})
    if kind == "ToolStreamEvent":
        data = event["tool_stream_event"].get("data")
        context.report_progress(0, None, data if isinstance(data, str) else _write(data))
        return None
    return getattr(event, "tool_result", event)


def _write(data: Any) -> str:
    try:
        return to_text(data)
    except ValueError:
        return str(data)


def _read_result(result: Any) -> Any:
    """Read a ToolResult; a failure is raised in its words."""
    if not isinstance(result, Mapping) or "content" not in result:
        return result
    blocks = [_read_block(block) for block in result["content"]]
    if result.get("status") == "error":
        texts = [block.get("text", "") if isinstance(block, dict) else to_text(block) for block in blocks]
        raise ToolException("\n".join(text for text in texts if text) or "The tool failed.")
    plain = len(result["content"]) == 1
    content: Any = BlockList(block if _is_block(block) else write_text(to_text(block)) for block in blocks)
    if plain and "json" in result["content"][0]:
        content = blocks[0]
    elif plain and "text" in result["content"][0]:
        content = blocks[0]["text"]
    return with_artifact(content, result.get("structuredContent") or result.get("metadata"))


def _is_block(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") in ("text", "image", "video", "file")


def _read_block(block: Mapping[str, Any]) -> Any:
    if "text" in block:
        return write_text(block["text"])
    for name, kind in (("image", "image"), ("video", "video"), ("document", "file")):
        if name in block:
            return _read_medium(kind, block[name])
    return block.get("json", dict(block))


def _read_medium(kind: str, said: Mapping[str, Any]) -> Any:
    source, form = said.get("source", {}), said.get("format")
    mime_type = _TYPES.get(str(form)) or (f"{kind}/{form}" if kind != "file" else f"application/{form}")
    made = write_media(kind, source.get("bytes"), source.get("location", {}).get("uri"), mime_type)
    return made | ({"filename": said["name"]} if "name" in said else {})


_TYPES = {"txt": "text/plain", "md": "text/markdown", "csv": "text/csv", "html": "text/html"}


def list_provided(it: Any) -> Iterable[Any]:
    """List the tools of a provider, which stays in use."""
    it.add_consumer("sidecall")

    async def load() -> Iterable[Any]:
        found: Iterable[Any] = await it.load_tools()
        return found

    with ThreadPoolExecutor(1) as thread:
        return list(thread.submit(asyncio.run, load()).result())


READER = Reader(describe, list_provided)
