"""Connect to an MCP server through the pipes of its process."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import mcp_types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from sidecall.features.mcp_client.connection_supervisor import EntrySanitizer
from sidecall.features.mcp_client.entries import UpstreamEntry
from sidecall.features.mcp_client.sdk.process_reapers import ProcessReaper
from sidecall.features.mcp_client.sdk.processes import ErrorOutput, describe_end, end_process, start_process

logger = logging.getLogger("sidecall.mcp_server")

# Seconds to read the rest of stderr after stdout has ended; and after which a server that reads nothing counts as
# ended.
_REST = 0.5
_FAREWELL = 2.0

Streams = tuple[MemoryObjectReceiveStream[Any], MemoryObjectSendStream[Any]]


@asynccontextmanager
async def open_pipes(
    server: str, entry: UpstreamEntry, limit: int, warden: ProcessReaper, notify_gone: Callable[[str], None]
) -> AsyncIterator[Streams]:
    """Start a server, yield its message streams, and end it with all its children.

    Raises:
        ServerAbsent: It cannot be started.
    """
    process = await start_process(entry, limit)
    warden.add(process.pid)
    heard, reading = anyio.create_memory_object_stream[Any](0)
    writing, said = anyio.create_memory_object_stream[Any](0)
    assert process.stdout is not None
    assert process.stderr is not None
    errors = ErrorOutput(server, EntrySanitizer(entry))
    logging_errors = asyncio.create_task(errors.log(process.stderr))

    async def find_end() -> str:
        end = await describe_end(process)
        await asyncio.wait([logging_errors], timeout=_REST)
        return f"{end}: {errors.last}" if errors.last else f"{end}."

    reading_on = asyncio.create_task(_read(server, process.stdout, heard, find_end, notify_gone))
    work = [reading_on, asyncio.create_task(_write(process, said, reading_on)), logging_errors]

    async def close() -> None:
        if process.returncode is not None and not reading_on.done():  # Its children may hold its output open.
            notify_gone(await find_end())
        await _close(process, work, warden)

    try:
        yield reading, writing
    finally:
        # In its own task, which continues when this one is cancelled.
        await asyncio.shield(asyncio.create_task(close()))
        for stream in (heard, reading, writing, said):
            stream.close()


async def _close(process: asyncio.subprocess.Process, work: list[asyncio.Task[None]], warden: ProcessReaper) -> None:
    try:
        work[0].cancel()
        await asyncio.gather(work[0], return_exceptions=True)
        drain = asyncio.create_task(_drain(process))
        await end_process(process)
        drain.cancel()
        for task in work:
            task.cancel()
        await asyncio.gather(drain, *work, return_exceptions=True)
    finally:
        warden.discard(process.pid)


async def _drain(process: asyncio.subprocess.Process) -> None:
    """Keep reading, so that a server that is still writing sees the end of its input."""
    assert process.stdout is not None
    while await process.stdout.read(65536):
        pass


async def _read(
    server: str,
    stream: asyncio.StreamReader,
    heard: MemoryObjectSendStream[Any],
    find_end: Callable[[], Awaitable[str]],
    notify_gone: Callable[[str], None],
) -> None:
    async with heard:
        try:
            while line := await stream.readline():
                if line.strip():
                    await heard.send(_parse(server, line))
        except ValueError:
            notify_gone("It has sent a message that is larger than SIDECALL_MAX_RESULT_BYTES.")
            return
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass
        notify_gone(await find_end())  # Before the stream ends: the client notices that too, but not why.


def _parse(server: str, line: bytes) -> Any:
    try:
        return SessionMessage(mcp_types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        logger.warning("[%s] a line of its output is no message of MCP: %.200r", server, line)
        return error


async def _write(
    process: asyncio.subprocess.Process, said: MemoryObjectReceiveStream[Any], reading: asyncio.Task[None]
) -> None:
    assert process.stdin is not None
    async with said:
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            async for sent in said:
                text = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(f"{text}\n".encode())
                await process.stdin.drain()
            return
        await asyncio.wait([reading], timeout=_FAREWELL)  # Which finds out why.
