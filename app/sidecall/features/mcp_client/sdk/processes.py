"""Start the command of an MCP server, and end it with all its children."""

import asyncio
import os
import signal
from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatchcase

from sidecall.features.mcp_client.entries import UpstreamEntry
from sidecall.features.mcp_client.link import ServerAbsent
from sidecall.kernel.executors.process.descendants import add_descendants, kill, kill_group

# Variables that programs need for paths and locale; none is a secret.
_HANDED_ON = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TEMP", "TMP",
    "SSL_CERT_*",
)  # fmt: skip
# Seconds for a process to end by itself, and after SIGTERM.
_GRACE = 2.0
_LOOK = 0.02
# Seconds for a process to end after it has closed its output.
_FAREWELL = 1.0


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
    await _wait_for_end(process, _FAREWELL)
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
