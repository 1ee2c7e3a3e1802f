"""Start the command of an MCP server, and end it with all that it has started."""

import asyncio
import logging
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatchcase

from sidecall.executors.process.descendants import add_descendants, kill, kill_group
from sidecall.upstream.entries import UpstreamEntry
from sidecall.upstream.link import LinkLost

logger = logging.getLogger("sidecall.mcp_server")

# What programs need to be found, to find their files and to speak a language; nothing of it is a secret.
_HANDED_ON = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TEMP", "TMP",
    "SSL_CERT_*",
)  # fmt: skip
# Seconds in which it may end by itself, and after SIGTERM.
_GRACE = 2.0
_LOOK = 0.02
# What of its stderr goes into the log: so many characters of a line, and so many lines in so many seconds.
_MOST_OF_LINE = 2000
_MOST_LINES = 100
_SPAN = 10.0
_CHUNK = 8192


def choose_environment(present: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Choose the environment of a server: what every program needs, and what its entry has."""
    needed = {name: value for name, value in present.items() if any(fnmatchcase(name, it) for it in _HANDED_ON)}
    return {**needed, **own}


async def start_process(entry: UpstreamEntry, limit: int) -> asyncio.subprocess.Process:
    """Start a server in a session of its own, whose lines may have so many bytes.

    Raises:
        LinkLost: It cannot be started.
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
        raise LinkLost(f"The command {entry.command} cannot be started: {reason}.") from None


async def end_process(process: asyncio.subprocess.Process) -> None:
    """Let it end by itself, or else kill it; and in either case all that it has started."""
    family = add_descendants([process.pid])
    if process.stdin is not None:
        process.stdin.close()
    if not await _wait_for_end(process):
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGTERM)
        await _wait_for_end(process)
    kill_group(process.pid)
    for pid in family[1:]:
        kill(pid)
    if process.returncode is None:
        await _wait_for_end(process)


async def _wait_for_end(process: asyncio.subprocess.Process) -> bool:
    """Wait a while; not for its pipes, which others may hold open."""
    end = asyncio.get_running_loop().time() + _GRACE
    while process.returncode is None and asyncio.get_running_loop().time() < end:  # noqa: ASYNC110  nobody tells
        await asyncio.sleep(_LOOK)
    return process.returncode is not None


async def log_errors(server: str, stream: asyncio.StreamReader) -> None:
    """Log what a server writes to stderr, a bounded part of it, until it ends."""
    lines = _BoundedLines(server)
    rest = ""
    while chunk := await stream.read(_CHUNK):
        *whole, rest = (rest + chunk.decode(errors="replace")).split("\n")
        rest = rest[:_MOST_OF_LINE]
        for line in whole:
            lines.log(line)
    lines.log(rest)
    lines.sum_up()


class _BoundedLines:
    """Logs so many lines in a time, and says how many it has left out."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._begun = 0.0
        self._count = 0

    def log(self, line: str) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._begun > _SPAN:
            self.sum_up()
            self._begun = now
        if not line.strip():
            return
        self._count += 1
        if self._count <= _MOST_LINES:
            logger.info("[%s] %s", self._server, line.rstrip()[:_MOST_OF_LINE])

    def sum_up(self) -> None:
        if self._count > _MOST_LINES:
            logger.warning("[%s] %d more lines were left out", self._server, self._count - _MOST_LINES)
        self._count = 0
