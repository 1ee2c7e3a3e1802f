"""Raise the limit of open files for connections."""

import errno
import logging
import os
import sys

if sys.platform != "win32":  # which has no such limit
    import resource

logger = logging.getLogger("sidecall")

# Files that tools, logs and libraries open besides the connections.
RESERVE = 256
# Connections beyond the most, which are refused and still taken from until their clients have the answer.
_MOST_TURNED_AWAY = 256
_LEAST_TURNED_AWAY = 16
# What loading a part of the server takes when it is first needed.
_TO_LOAD = 8


def room_for(connections: int) -> int:
    """Raise the limit of open files as far as allowed, and return how many connections fit."""
    if sys.platform == "win32":
        return connections
    wanted = connections + RESERVE
    limit = _raise_limit(wanted + _MOST_TURNED_AWAY)
    if limit >= wanted:
        return connections
    fitting = max(limit - RESERVE, limit // 2 - _TO_LOAD, 1)
    logger.warning(
        "only %d connections fit under the limit of %d open files, not SIDECALL_MAX_CONNECTIONS=%d; raise it "
        "(ulimit -n, LimitNOFILE, --ulimit nofile)",
        fitting,
        limit,
        connections,
    )
    return fitting


def room_beyond(connections: int) -> int:
    """Return how many more connections may be open while they are being refused."""
    if sys.platform == "win32":
        return _LEAST_TURNED_AWAY
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    left = _MOST_TURNED_AWAY if limit == resource.RLIM_INFINITY else limit - RESERVE - connections
    return max(_LEAST_TURNED_AWAY, min(_MOST_TURNED_AWAY, left))


def _raise_limit(wanted: int) -> int:
    if sys.platform == "win32":
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return wanted
    target = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))
    except (OSError, ValueError):  # macOS allows less than it says
        return soft
    return target


def are_exhausted() -> bool:
    """Test whether one more file can be opened; the event loop closes connections silently if not."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return False
