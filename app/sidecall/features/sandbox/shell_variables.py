"""Parse the shell's own output of exported variables, as data that never runs.

A program can write anything where a shell saves its state. So only lines with the form of a variable are kept.
"""

import os
import re
from collections.abc import Mapping
from itertools import islice

_WORDS = re.compile(
    rb"(?:declare -[A-Za-z]+|export) (?P<name>[A-Za-z_][A-Za-z0-9_]*)="
    rb"""(?:\$'(?P<escaped>(?:[^'\\]|\\.)*)'|"(?P<double>(?:[^"\\]|\\.)*)"|(?P<single>'[^']*'(?:"'+"'[^']*'|'[^']*')*))$""",
    re.MULTILINE | re.DOTALL,
)
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|(.))", re.DOTALL)
_NAMED = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r", b"E": b"\x1b"}
_QUOTED = re.compile(rb"""'([^']*)'|"('+)\"""")
# Bubblewrap takes a few thousand arguments at most.
_MOST = 500
# Variables that each shell sets itself, and those that make it or the loader run something else first.
_OWN = frozenset(("PWD", "SHLVL", "_"))
_TURNING = frozenset(("BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PS4", "IFS", "PROMPT_COMMAND", "POSIXLY_CORRECT"))
_TURNING_BEGINNINGS = ("LD_", "BASH_FUNC", "GLIBC_TUNABLES", "GCONV_PATH")


def read_exports(body: bytes) -> dict[str, str]:
    """Parse the output of `export -p`; lines that are no variables, or would run something, are left out."""
    found = {match["name"].decode(): os.fsdecode(_read_value(match)) for match in _WORDS.finditer(body)}
    kept = ((name, value) for name, value in found.items() if _is_carried(name) and "\0" not in value)
    return dict(islice(kept, _MOST))


def write_variables(variables: Mapping[str, str]) -> bytes:
    """Write variables down, each ended by a zero."""
    return b"".join(os.fsencode(f"{name}={value}\0") for name, value in variables.items())


def read_variables(body: bytes) -> dict[str, str]:
    """Read the output of `write_variables`."""
    pairs = (text.partition("=") for text in os.fsdecode(body).split("\0") if text)
    return {name: value for name, _, value in pairs}


def _is_carried(name: str) -> bool:
    return name not in _OWN and name not in _TURNING and not name.startswith(_TURNING_BEGINNINGS)


def _read_value(match: re.Match[bytes]) -> bytes:
    if match["escaped"] is not None:
        return _ESCAPE.sub(_unescape, match["escaped"])
    if match["double"] is not None:
        return re.sub(rb'\\([\\"$`])', rb"\1", match["double"])
    return b"".join(plain or quotes for plain, quotes in _QUOTED.findall(match["single"]))


def _unescape(match: re.Match[bytes]) -> bytes:
    if match[1] is not None:
        return bytes([int(match[1], 8) & 0xFF])
    return _NAMED.get(match[2], match[2])
