"""Name the tools of other servers with characters and lengths that every provider accepts."""

import hashlib
import re
from collections.abc import Iterable, Mapping

_MOST = 64
_HASH = 8
_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")

# A server's tool names, and whether they are prefixed with its own name.
NamedTools = tuple[bool, Iterable[str]]


def name_remote_tools(servers: Mapping[str, NamedTools], taken: Iterable[str]) -> dict[tuple[str, str], str]:
    """Map server and tool names to names here.

    A name that is too long or taken gets a hash suffix; earlier servers keep their names.
    """
    known = set(taken)
    given: dict[tuple[str, str], str] = {}
    for server, (is_prefixed, tools) in servers.items():
        for tool in tools:
            name = _clean(f"{server}__{tool}" if is_prefixed else tool)
            if len(name) > _MOST or not name or name in known:
                name = _mark(name, server, tool)
            known.add(name)
            given[server, tool] = name
    return given


def _clean(name: str) -> str:
    return _FOREIGN.sub("_", name)


def _mark(name: str, server: str, tool: str) -> str:
    digits = hashlib.sha256(f"{server}\0{tool}".encode()).hexdigest()[:_HASH]
    return f"{name[: _MOST - _HASH - 1]}_{digits}"
