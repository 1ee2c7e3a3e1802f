"""Start the command of an MCP server, talk to it over its pipes, and end it with all its children."""

import asyncio
import codecs
import logging
import os
import re
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from fnmatch import fnmatchcase
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from sidecall.features.mcp_client.connection_supervisor import EntrySanitizer
from sidecall.features.mcp_client.link import LinkLost, ServerAbsent
from sidecall.features.mcp_client.mcp_json import UpstreamEntry
from sidecall.features.mcp_client.sdk.message_bounds import TOO_LARGE, parse_message
from sidecall.features.mcp_client.sdk.process_reapers import ProcessReaper
from sidecall.kernel.concurrency.descendants import add_descendants, kill, kill_group

# Variables that programs need for paths and locale; none is a secret.
_HANDED_ON = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TEMP", "TMP",
    "SSL_CERT_*",
)  # fmt: skip
# Seconds for a process to end by itself, and after SIGTERM.
_GRACE = 2.0

_LOOK = 0.02
# Seconds for a process to end after it has closed its output.
_PATIENCE_AT_END = 1.0


def choose_environment(present: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Choose the environment of a server: the common variables, and those of its entry."""
    needed = {name: value for name, value in present.items() if any(fnmatchcase(name, it) for it in _HANDED_ON)}
    return {**needed, **own}


async def start_process(entry: UpstreamEntry, limit: int) -> asyncio.subprocess.Process:
    """Start a server in its own session, with a maximum length of lines in bytes.

    Raises:
        ServerAbsent: It cannot be started.
    """
    assert entry.command is not None
    try:
        return await asyncio.create_subprocess_exec(
            entry.command,
            *entry.args,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=entry.cwd,
            env=choose_environment(os.environ, entry.env),
            limit=limit,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        if entry.cwd is not None and not entry.cwd.is_dir():
            reason = f"its cwd, {entry.cwd}, is no folder"
        raise ServerAbsent(f"The command {entry.command} cannot be started: {reason}.") from None


async def end_process(process: asyncio.subprocess.Process) -> None:
    """Wait for it to end, or kill it; then kill all its children."""
    family = add_descendants([process.pid])
    if process.stdin is not None:
        process.stdin.close()
    if not await _wait_for_end(process, _GRACE):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGTERM)
        await _wait_for_end(process, _GRACE)
    kill_group(process.pid)
    for pid in family[1:]:
        kill(pid)
    if process.returncode is None:
        await _wait_for_end(process, _GRACE)


async def describe_end(process: asyncio.subprocess.Process) -> str:
    """Describe how a server ended that has closed its output."""
    await _wait_for_end(process, _PATIENCE_AT_END)
    code = process.returncode
    if code is None:
        return "It has closed its output"
    if code >= 0:
        return f"It has ended with exit code {code}"
    try:
        return f"It was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"It was ended by signal {-code}"


async def _wait_for_end(process: asyncio.subprocess.Process, seconds: float) -> bool:
    """Wait a while for the process, but not for its pipes, which its children may hold open."""
    end = asyncio.get_running_loop().time() + seconds
    while process.returncode is None and asyncio.get_running_loop().time() < end:  # noqa: ASYNC110  nobody tells
        await asyncio.sleep(_LOOK)
    return process.returncode is not None


# Logged at most: characters of a line, and lines in so many seconds.
_MOST_OF_LINE = 2000

_MOST_OF_LAST = 300

_MOST_LINES = 100

_SPAN = 10.0

_CHUNK = 1024
# Node writes this below an error, whose message is further up.
_OF_NODE = re.compile(r"Node\.js v\d+\.\S+")

_ERROR = re.compile(r"\w*Error\b.*: .+")


class ErrorOutput:
    """The lines of a server's stderr."""

    def __init__(self, server: str, words: EntrySanitizer) -> None:
        self._server = server
        self._words = words
        self._begun = 0.0
        self._count = 0
        self._last = ""
        self._error = ""

    @property
    def last(self) -> str:
        """The beginning of the last line with text; empty without one."""
        line = self._error if self._error and _OF_NODE.fullmatch(self._last) else self._last
        return line[:_MOST_OF_LAST]

    async def log(self, stream: asyncio.StreamReader) -> None:
        """Log a bounded part of the lines, until the end."""
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        rest = ""
        while chunk := await stream.read(_CHUNK):
            *whole, rest = (rest + decode(chunk)).split("\n")
            rest = rest[:_MOST_OF_LINE]
            for line in whole:
                self._take(line)
            await asyncio.sleep(0)  # Megabytes may be there already.
        self._take(rest)
        self._sum_up()

    def note_foreign(self, line: bytes) -> None:
        """Log a line of its output that is no message, within the same bound."""
        if self._may_log():
            logger.warning("[%s] a line of its output is no message of MCP: %.200r", self._server, line)

    def _may_log(self) -> bool:
        now = asyncio.get_running_loop().time()
        if now - self._begun > _SPAN:
            self._sum_up()
            self._begun = now
        self._count += 1
        return self._count <= _MOST_LINES

    def _take(self, line: str) -> None:
        # Of a line that is overwritten repeatedly, such as progress, the last state.
        shown = line.rstrip().rpartition("\r")[2]
        line = self._words.clean(shown[:_MOST_OF_LINE], is_cut=len(shown) >= _MOST_OF_LINE)
        if not line:
            return
        if any(map(str.isalnum, line)):  # No frame, and no closing bracket.
            self._last = line.strip()
        self._error = line if _ERROR.match(line) else self._error
        if self._may_log():
            logger.info("[%s] %s", self._server, line)

    def _sum_up(self) -> None:
        if self._count > _MOST_LINES:
            logger.warning("[%s] %d more lines were left out", self._server, self._count - _MOST_LINES)
        self._count = 0


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

    reading_on = asyncio.create_task(_read(errors, process.stdout, heard, find_end, notify_gone))
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
    errors: ErrorOutput,
    stream: asyncio.StreamReader,
    heard: MemoryObjectSendStream[Any],
    find_end: Callable[[], Awaitable[str]],
    notify_gone: Callable[[str], None],
) -> None:
    async with heard:
        try:
            while line := await stream.readline():
                if line.strip():
                    await heard.send(await _parse(errors, line))
                else:
                    await asyncio.sleep(0)
        except ValueError:
            notify_gone(TOO_LARGE)
            return
        except LinkLost as error:
            notify_gone(str(error))
            return
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            pass
        notify_gone(await find_end())  # Before the stream ends: the client notices that too, but not why.


async def _parse(errors: ErrorOutput, line: bytes) -> Any:
    try:
        return await parse_message(line)
    except ValueError as error:
        errors.note_foreign(line)
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
