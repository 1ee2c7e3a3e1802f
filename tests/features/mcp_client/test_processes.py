"""What MCP servers write to their pipes holds nobody up, and fills no log."""

import asyncio
import logging
from typing import Any

import anyio
import pytest

from sidecall.features.mcp_client.connection_supervisor import EntrySanitizer
from sidecall.features.mcp_client.mcp_json import UpstreamEntry
from sidecall.features.mcp_client.sdk.processes import ErrorOutput, _read

_MESSAGE = b'{"jsonrpc": "2.0", "method": "notifications/x"}\n'


@pytest.fixture(name="errors")
def make_errors() -> ErrorOutput:
    """Make the error output of a server."""
    return ErrorOutput("kit", EntrySanitizer(UpstreamEntry(command="kit")))


def fill(text: bytes) -> asyncio.StreamReader:
    """Return a stream whose whole text is there already."""
    stream = asyncio.StreamReader(limit=10_000_000)
    stream.feed_data(text)
    stream.feed_eof()
    return stream


async def count_turns(work: Any) -> int:
    """Return how often others could run meanwhile."""
    turns, task = 0, asyncio.ensure_future(work)
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    await task
    return turns


async def read_output(text: bytes, errors: ErrorOutput) -> tuple[list[Any], int]:
    """Read the output of a server, and return what was heard and how often others could run."""
    heard, reading = anyio.create_memory_object_stream[Any](100_000)
    gone: list[str] = []

    async def find_end() -> str:
        return "It has ended."

    turns = await count_turns(_read(errors, fill(text), heard, find_end, gone.append))
    found = [item async for item in reading]
    reading.close()
    return found, turns


async def test_empty_lines_of_the_output_let_others_run(errors: ErrorOutput) -> None:
    """Very many may be there at once."""
    found, turns = await read_output(b"\n" * 5000 + _MESSAGE, errors)

    assert len(found) == 1
    assert turns > 5000


async def test_lines_of_stderr_let_others_run(errors: ErrorOutput) -> None:
    """Very many may be there at once."""
    assert await count_turns(errors.log(fill(b"\n" * 100_000 + b"the end\n"))) > 90

    assert errors.last == "the end"


async def test_output_that_is_no_message_fills_no_log(errors: ErrorOutput, caplog: pytest.LogCaptureFixture) -> None:
    """The bound is that of stderr."""
    caplog.set_level(logging.INFO)

    found, _ = await read_output(b"no message\n" * 5000, errors)

    assert len(found) == 5000
    assert len(caplog.records) == 100
