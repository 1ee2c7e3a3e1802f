"""Calls that are answered with 20 MB, by tools of every shape that `trials/served/slow_clients.py` has."""

from collections.abc import Mapping, Sequence
from typing import Any

_KB = 1024


def _draw(name: str) -> list[dict[str, Any]]:
    """Ask for two answers, since one artifact may not be so large."""
    return [{"name": name, "args": {"megabytes": 10}, "id": f"call_{number}"} for number in range(2)]


def _recite(name: str, size: int) -> list[dict[str, Any]]:
    return [{"name": name, "args": {"megabytes": 20, "size": size}, "id": "call_1"}]


SHAPES: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "artifacts of 10 MB": _draw("draw"),
    "artifacts of threads": _draw("draw_in_thread"),
    "artifacts of processes": _draw("draw_in_process"),
    "texts in parts of 1 KB": _recite("recite", _KB),
    "texts in parts of 1 MB": _recite("recite", _KB * _KB),
    "texts of threads in parts of 1 KB": _recite("recite_in_thread", _KB),
    "texts of threads in parts of 1 MB": _recite("recite_in_thread", _KB * _KB),
    "texts of processes in parts of 1 KB": _recite("recite_in_process", _KB),
    "texts of processes in parts of 1 MB": _recite("recite_in_process", _KB * _KB),
}
