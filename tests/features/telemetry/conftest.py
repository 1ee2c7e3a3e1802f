"""Pipelines that are watched, and log lines as an operator reads them."""

import io
import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from sidecall import BaseTool, Registry
from sidecall.composition.local_pipeline import default_stages
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.telemetry.calls import CallTelemetry
from sidecall.features.telemetry.log_lines import make_json_lines
from sidecall.features.telemetry.terminal_lines import make_terminal_lines
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.services import CallServices, ToolResources
from sidecall.kernel.executors.base import InlineExecutor
from sidecall.kernel.executors.thread_pool import ThreadExecutor
from sidecall.kernel.pipeline.pipeline import Pipeline


@dataclass
class Log:
    """What was written so far."""

    written: io.StringIO

    @property
    def text(self) -> str:
        """All of it."""
        return self.written.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Each line's fields."""
        return [json.loads(line) for line in self.text.split("\n") if line]


@pytest.fixture
def log_as() -> Iterator[Callable[..., Log]]:
    """Give a function that has everything logged in a form, until the end of the test."""
    root, ours = logging.getLogger(), logging.getLogger("sidecall")
    before = ours.level
    handlers: list[logging.Handler] = []

    def start(*, as_json: bool, redact: tuple[str, ...] = (), level: int = logging.INFO) -> Log:
        log = Log(io.StringIO())
        handler = logging.StreamHandler(log.written)
        handler.setFormatter(make_json_lines(redact) if as_json else make_terminal_lines(redact))
        handlers.append(handler)
        root.addHandler(handler)
        ours.setLevel(level)
        return log

    yield start
    for handler in handlers:
        root.removeHandler(handler)
    ours.setLevel(before)
    logging.captureWarnings(False)


@pytest.fixture
async def run_watched() -> AsyncIterator[Callable[..., Any]]:
    """Give a function that takes a request to one tool, with somebody watching."""
    async with AsyncExitStack() as stack:

        async def run(watch: CallTelemetry, offered: BaseTool, request: CallRequest) -> ToolMessage:
            threads = ThreadExecutor(4)
            stack.push_async_callback(threads.close)
            around = CallServices(ToolResources(trace=watch.headers))
            stages = default_stages({"inline": InlineExecutor(), "thread": threads}, MemoryApprovals())
            return await Pipeline(Registry([offered]), stages, 30, around, observer=watch).run(request)

        yield run
