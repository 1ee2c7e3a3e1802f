"""A tool whose answers are given again, and pipelines that do so."""

import asyncio
from typing import Any

from sidecall import BaseTool, Cache, tool
from sidecall.features.cache.answers import Caching
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.pipeline.pipeline import Pipeline
from tests.kit.calls import write_request
from tests.kit.pipelines import make_pipeline

READS = {"read_only": True, "idempotent": True}


class Runs:
    """Count the runs of a tool, each of which takes a second."""

    def __init__(self) -> None:
        self.count = 0
        self.ended = 0

    async def look_up(self, word: str, limit: int = 5) -> str:
        """Look a word up."""
        self.count += 1
        number = self.count
        await asyncio.sleep(1)
        self.ended += 1
        return f"{word} {limit} {number}"


def make_look_up(runs: Runs, **options: Any) -> BaseTool:
    """Make a tool of it."""
    cached = {"cache": Cache(ttl=60), "annotations": READS, **options}
    made: BaseTool = tool("look_up", description="Look a word up.", **cached)(runs.look_up)
    return made


def serve(*tools: BaseTool) -> Pipeline:
    """Make a pipeline that gives answers again."""
    return make_pipeline(tools, caching=Caching(timeout=30))


async def ask(pipeline: Pipeline, name: str = "look_up", args: Any = None, **beside: Any) -> ToolMessage:
    """Send a call."""
    return await pipeline.run(write_request(name, {"word": "tea"} if args is None else args, **beside))


def cache_of(message: ToolMessage) -> Any:
    """Return what an answer says of where it comes from."""
    return message.response_metadata.get("cache")
