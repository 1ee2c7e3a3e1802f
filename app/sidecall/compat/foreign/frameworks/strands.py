"""Read tools of Strands: objects, and modules whose `TOOL_SPEC` says what a function of their name takes."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any

from sidecall.compat.foreign.frameworks.make import make_tool
from sidecall.compat.foreign.frameworks.media import write_media, write_text
from sidecall.compat.foreign.frameworks.reader import CallState, Reader, Source, is_blocking, with_artifact
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


_PACKAGE = "strands"
_TOOL = "AgentTool"


@dataclass(frozen=True, slots=True)
class ModuleTool:
    """The tool that a module is, in the shape of Strands' own classes."""

    tool_name: str
    tool_spec: Mapping[str, Any]
    _tool_func: Callable[..., Any]

    async def stream(self, tool_use: Mapping[str, Any], invocation_state: Mapping[str, Any]) -> AsyncIterator[Any]:
        """Yield the result of a call."""
        if inspect.iscoroutinefunction(self._tool_func):
            yield await self._tool_func(tool_use, **invocation_state)
        else:
            yield await asyncio.to_thread(self._tool_func, tool_use, **invocation_state)


def is_module_tool(module: ModuleType) -> bool:
    """Return whether a module describes itself as a tool; with tools of its own, Strands takes those alone."""
    return _read_spec(module) is not None and not list_own(module)


def list_own(module: ModuleType) -> list[Any]:
    """List the decorated tools of a module."""
    return [it for it in vars(module).values() if _is_strands(it)]


def find_missing(module: ModuleType) -> str | None:
    """Return what a module lacks to be a tool, in words; None if nothing."""
    if not is_module_tool(module) or _find_function(module) is not None:
        return None
    return f"its TOOL_SPEC has no function; write `def {_find_name(module)}(tool, **kwargs)` in it"


def list_tools(module: ModuleType) -> Iterable[Any]:
    """List the tools of a module: its decorated ones, else the one that it is."""
    return list_own(module) or [make_tool(describe_module(module), None, {})]


def describe_module(module: ModuleType) -> Source:
    """Describe the tool that a module is."""
    spec, function = _read_spec(module), _find_function(module)
    assert spec is not None
    assert function is not None
    return describe(ModuleTool(_find_name(module), spec, function))


def _read_spec(module: ModuleType) -> Mapping[str, Any] | None:
    spec = vars(module).get("TOOL_SPEC")
    return spec if isinstance(spec, Mapping) and {"name", "inputSchema"} <= spec.keys() else None


def _find_name(module: ModuleType) -> str:
    spec = _read_spec(module) or {}
    return (
        str(spec["name"]) if isinstance(vars(module).get(str(spec.get("name"))), FunctionType) else _find_stem(module)
    )


def _find_stem(module: ModuleType) -> str:
    return Path(module.__file__).stem if module.__file__ else module.__name__.rpartition(".")[2]


def _find_function(module: ModuleType) -> Callable[..., Any] | None:
    found = vars(module).get(_find_name(module))
    return found if callable(found) else None


def _is_strands(thing: Any) -> bool:
    kinds = type(thing).__mro__
    return any(it.__name__ == _TOOL and it.__module__.partition(".")[0] == _PACKAGE for it in kinds)


MODULE_READER = Reader(describe_module, list_tools)
