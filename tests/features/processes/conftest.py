"""Processes that all tests of this folder share."""

import asyncio
from collections.abc import Iterator

import pytest

from sidecall.features.processes.executor import ProcessExecutor
from sidecall.loading.collect import TOOLS_OF
from sidecall.loading.discovery import discover
from tests.features.processes import process_tools
from tests.kernel.executors.conftest import Answer, answering


@pytest.fixture(scope="session")
def processes() -> Iterator[ProcessExecutor]:
    """Two processes that have loaded their tools, with room for 512 MB in each.

    Not an async fixture, with which all tests of the session would share one event loop.
    """
    executor = ProcessExecutor(2, TOOLS_OF, 512)
    asyncio.run(executor.start(discover([process_tools.__name__])))
    yield executor
    asyncio.run(executor.close())


@pytest.fixture
def answer(processes: ProcessExecutor) -> Answer:
    """Run a call in one of them."""
    return answering(processes)
