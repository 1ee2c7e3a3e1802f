"""Build the server: the one place where its parts meet."""

import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from fastapi import FastAPI

from app.api.app import build_api
from app.api.parts import Parts
from app.core.tool import ExecutorName
from app.discovery import discover
from app.executors.base import Executor
from app.executors.inline import InlineExecutor
from app.executors.thread import ThreadExecutor
from app.pipeline.pipeline import Pipeline, default_stages
from app.registry import Registry
from app.reload import watching
from app.settings import Settings
from app.stores.memory import MemoryStore


def create_app(settings: Settings | None = None, registry: Registry | None = None) -> FastAPI:
    """Build the ASGI application.

    Args:
        settings: Read from the environment when None.
        registry: The tools to offer; discovered as the settings say when None.

    Raises:
        DefinitionError: A tool cannot be offered.
        ValidationError: A setting is wrong.
    """
    settings = settings or Settings()
    logging.getLogger("sidecall").setLevel(settings.log_level.upper())
    if registry is None:
        registry = Registry(discover(settings.tools, use_entry_points=settings.entry_points))
    executors = build_executors(settings.threads)
    pipeline = Pipeline(registry, default_stages(executors), settings.tool_timeout, MemoryStore())

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            async with watching(registry, settings.tools, settings.entry_points, enabled=settings.reload):
                yield
        finally:
            await close_all(executors)

    parts = Parts(
        registry=registry,
        pipeline=pipeline,
        max_body_bytes=settings.max_body_bytes,
        max_batch=settings.max_batch,
    )
    return build_api(parts, lifespan)


@asynccontextmanager
async def build_pipeline(registry: Registry, threads: int, tool_timeout: float) -> AsyncIterator[Pipeline]:
    """Build the pipeline alone, for callers without a server; its executors are closed afterwards."""
    executors = build_executors(threads)
    try:
        yield Pipeline(registry, default_stages(executors), tool_timeout, MemoryStore())
    finally:
        await close_all(executors)


def build_executors(threads: int) -> dict[ExecutorName, Executor]:
    """Make one executor of each kind."""
    return {"inline": InlineExecutor(), "thread": ThreadExecutor(threads)}


async def close_all(executors: Mapping[ExecutorName, Executor]) -> None:
    """Close them, whatever they run."""
    for executor in executors.values():
        await executor.close()
