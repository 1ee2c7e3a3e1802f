"""Detect slow functions that were called on an event loop."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def listing_calls_on_loop(owner: Any, *names: str) -> Iterator[list[str]]:
    """Yield the names of those functions of `owner` that are called, while the body runs, where an event loop runs."""
    called: list[str] = []

    def watch(name: str, function: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            if asyncio._get_running_loop() is not None:
                called.append(name)
            return function(*args, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            patch.setattr(owner, name, watch(name, getattr(owner, name)))
        yield called
