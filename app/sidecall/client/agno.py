"""A server's tools for agno: `Agent(model=..., tools=load_tools(server))`."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from agno.media import Audio, File, Image, Video
from agno.run import RunContext
from agno.run.agent import CustomEvent
from agno.tools.function import Function, FunctionCall, ToolResult

from sidecall.client import remote
from sidecall.client.answers import PartialAnswer, Progress, ToolAnswer
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.blocks import MediaBlock, read_blocks
from sidecall.client.options import ToolFilters
from sidecall.client.remote import RemoteTool, ToolOptions
from sidecall.client.runs import RunOptions, asks_framework, check_run_options, confirm, read_run

_MEDIA: Mapping[str, tuple[str, Callable[..., Any]]] = {
    "image": ("images", Image),
    "audio": ("audios", Audio),
    "video": ("videos", Video),
    "file": ("files", File),
}
# What agno makes of texts among a model's arguments.
_MADE = {"true": True, "false": False, "none": None, "null": None}


def load_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[Function]:
    """Return the server's tools, for `run` and `arun`; the latter calls each in a thread.

    Functions among the options get agno's RunContext. Tools that read a state get the session's, unless there is a
    `state`. A call that may need approval pauses the run before it, unless `ask` or `approvals` say otherwise.
    """
    wanted = check_run_options(options)
    return [_make_function(it, wanted, _make_entry(it, wanted)) for it in remote.load_tools(server, filters=filters)]


async def aload_tools(
    server: str | Sidecall | AsyncSidecall, *, filters: ToolFilters | None = None, **options: Unpack[RunOptions]
) -> list[Function]:
    """Return the server's tools, for `arun` only: cancelled with it, and with their progress among its events."""
    wanted = check_run_options(options)
    tools = await remote.aload_tools(server, filters=filters)
    return [_make_function(it, wanted, _make_async_entry(it, wanted)) for it in tools]


@dataclass
class CallProgress(CustomEvent):
    """Progress of a call, or a part of its content, in `progress`."""

    progress: Progress | PartialAnswer | None = None

    def __str__(self) -> str:
        """Return nothing, since agno adds this text to what the model reads."""
        return ""


def _make_function(tool: RemoteTool, options: RunOptions, entry: Callable[..., Any]) -> Function:
    return Function(
        name=tool.name,
        description=tool.description,
        parameters=tool.parameters,
        entrypoint=entry,
        skip_entrypoint_processing=True,
        requires_confirmation=asks_framework(tool, options),
        stop_after_tool_call=tool.return_direct,
        show_result=tool.return_direct,
    )


def _make_entry(tool: RemoteTool, options: RunOptions) -> Callable[..., Any]:
    # By these names agno passes its own objects.
    def run(fc: Any = None, _agno_run_context: RunContext | None = None, **written: Any) -> ToolResult:
        args, call_id, wanted = _read_call(tool, options, (fc, _agno_run_context, written))
        return _show(tool.call(args, id=call_id, **wanted))

    return run


def _make_async_entry(tool: RemoteTool, options: RunOptions) -> Callable[..., Any]:
    async def run(fc: Any = None, _agno_run_context: RunContext | None = None, **written: Any) -> Any:
        args, call_id, wanted = _read_call(tool, options, (fc, _agno_run_context, written))
        heard: asyncio.Queue[Progress | PartialAnswer | None] = asyncio.Queue()
        if "on_progress" not in wanted:
            wanted["on_progress"] = heard.put_nowait
        task = asyncio.ensure_future(tool.acall(args, id=call_id, **wanted))
        task.add_done_callback(lambda _: heard.put_nowait(None))
        try:
            first = await heard.get()
        except asyncio.CancelledError:
            task.cancel()
            raise
        # agno takes events from a generator, and images from a result, but not both from one tool.
        return _show(await task) if first is None else _stream(first, heard, task)

    return run


async def _stream(
    first: Progress | PartialAnswer, heard: asyncio.Queue[Progress | PartialAnswer | None], task: Any
) -> AsyncIterator[Any]:
    event: Progress | PartialAnswer | None = first
    try:
        while event is not None:
            yield CallProgress(progress=event)
            event = await heard.get()
        yield (await task).raise_for_status().text
    finally:
        task.cancel()


def _read_call(
    tool: RemoteTool, options: RunOptions, passed: tuple[Any, RunContext | None, dict[str, Any]]
) -> tuple[dict[str, Any], str | None, ToolOptions]:
    """Return the arguments, id and options of a call."""
    call, run, written = passed
    if call is not None and not isinstance(call, FunctionCall):  # The tool has a parameter of this name.
        written = {**written, "fc": call}
    call_id = call.call_id if isinstance(call, FunctionCall) else None
    wanted = read_run(options, run, conversation=None if run is None else run.session_id)
    if "state" not in wanted and run is not None and tool.listed.get("reads_state"):
        wanted |= read_run({"state": run.session_state}, run)
    if asks_framework(tool, options):  # agno has asked a person before it runs such a tool.
        wanted = confirm(wanted, tool.name)
    return _restore(written, call_id, run), call_id, wanted


def _restore(args: dict[str, Any], call_id: str | None, run: RunContext | None) -> dict[str, Any]:
    """Return texts such as "true" and "None" as the model has written them; agno makes other values of them."""
    if call_id is None or run is None or not any(value is None or isinstance(value, bool) for value in args.values()):
        return args
    for message in reversed(run.messages or []):
        for call in message.tool_calls or []:
            if call.get("id") == call_id:
                said = _read_texts(call.get("function", {}).get("arguments"))
                return {
                    key: said[key] if key in said and _MADE[said[key].strip().lower()] is value else value
                    for key, value in args.items()
                }
    return args


def _read_texts(arguments: Any) -> dict[str, str]:
    try:
        said = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return {}
    if not isinstance(said, dict):
        return {}
    return {key: value for key, value in said.items() if isinstance(value, str) and value.strip().lower() in _MADE}


def _show(answer: ToolAnswer) -> ToolResult:
    """Return a result: the model reads its content, hooks of the program its metadata."""
    texts: list[str] = []
    media: dict[str, list[Any]] = {}
    for block in read_blocks(answer.raise_for_status().content):
        shown = None if isinstance(block, str) else _make_medium(block)
        if shown is None:
            texts.append(block if isinstance(block, str) else block.words)
        else:
            media.setdefault(shown[0], []).append(shown[1])
    metadata = {"artifact": answer.artifact, "status": answer.status, **answer.response_metadata}
    return ToolResult(content="\n".join(texts), metadata=metadata, **media)


def _make_medium(block: MediaBlock) -> tuple[str, Any] | None:
    where, kind = _MEDIA[block.kind]
    source = {"url": block.url} if block.data is None else {"content": base64.b64decode(block.data)}
    name = {"filename": block.filename} if kind is File else {}
    try:
        return where, kind(mime_type=block.type, **source, **name)
    except ValueError:  # A type that agno does not take, or a file that only its id names.
        return None
