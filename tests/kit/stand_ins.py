"""What a server starts as programs of Python, forked instead."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tests.kit.forked_workers import multiprocessing_from
from tests.kit.forking import Find, subprocess_from


def list_stand_ins(find_origin: Find) -> Iterator[tuple[Any, str, Any]]:
    """Yield modules, each with one of its names and what stands in for that; there may be none but the kernel."""
    if find_spec("sidecall.features") is not None:
        of_tools = import_module("sidecall.features.processes.fork_server_process")
        yield of_tools, "subprocess", subprocess_from(find_origin, knows_parent=False)
    if find_spec("sidecall.storage") is not None:
        backends = import_module("sidecall.storage.sqlite.backends")
        yield backends, "subprocess", subprocess_from(find_origin, knows_parent=True)
    if find_spec("sidecall.server") is not None:
        yield import_module("sidecall.server.supervisor"), "multiprocessing", multiprocessing_from(find_origin)
