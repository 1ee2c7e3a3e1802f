"""A server made of the kernel alone, for tests that have to pass without features."""

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from fastapi import FastAPI

from sidecall.authoring.base_tool import BaseTool
from sidecall.http.application import Application
from sidecall.http.backlog import Backlog
from sidecall.http.body import Bounds
from sidecall.kernel.core.requirements import ToolRequirements
from sidecall.kernel.core.result_memory import ResultMemory
from sidecall.kernel.core.services import CallServices
from sidecall.kernel.executors.table import Executors, ExecutorSettings, build_all, close_with, follow_all, start_all
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.pipeline.execution.execute import Execute
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stages import kernel_stages
from sidecall.kernel.pipeline.truncate import Truncate
from sidecall.kernel.ports.observer import CurrentCall
from sidecall.kernel.registry import Registry
from sidecall.lazy_imports import find_provider
from sidecall.rest.app import Pages, build_api
from sidecall.rest.listings import ToolListings
from sidecall.rest.parts import Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSettings:
    """What the kernel can be told, under the names and with the defaults of the settings of a whole server."""

    threads: int = 32
    processes: int = 4
    tool_timeout: float = 30.0
    max_body_bytes: int = 4 * 1024 * 1024
    max_json_values: int = 50_000
    max_batch: int = 128
    max_concurrency: int = 10_000
    max_concurrency_per_caller: int | None = None
    max_queue: int = 1000
    queue_timeout: float = 10.0
    max_content_bytes: int = 1_000_000
    max_result_bytes: int = 16 * 1024 * 1024
    max_unread_bytes: int = 16 * 1024 * 1024
    docs: bool = True


def make_kernel_app(tools: Iterable[BaseTool], **settings: Any) -> Application:
    """Build an application of these tools.

    Raises:
        FeatureMissing: A tool asks for a feature.
        TypeError: A setting is one of a feature.
    """
    said, registry = KernelSettings(**settings), Registry()
    registry.check = ToolRequirements().hold
    registry.add(*tools)
    tools_of = f"{find_provider('collect')}:tools_of"
    executors = build_all(ExecutorSettings(tools_of=tools_of, threads=said.threads, processes=said.processes))
    results = ResultMemory(said.max_result_bytes)
    parts = Parts(
        registry=registry,
        pipeline=_make_pipeline(registry, executors, results, said),
        listings=ToolListings(registry),
        bounds=Bounds(said.max_body_bytes, said.max_json_values, said.max_batch),
        backlog=Backlog(said.max_unread_bytes),
    )
    return build_api(parts, partial(_live, parts, executors), pages=Pages(docs=said.docs))


def _make_pipeline(registry: Registry, executors: Executors, results: ResultMemory, said: KernelSettings) -> Pipeline:
    async def keep_nothing(_body: Any, _caller: Any) -> None:
        """Let what is cut be gone."""

    limits = Limits(said.max_concurrency, said.max_concurrency_per_caller, said.max_queue, said.queue_timeout)
    admission = Admission(limits)
    stages = kernel_stages(Execute(executors), Truncate(said.max_content_bytes, keep_nothing, results))
    services = replace(CallServices(), abandon=admission.abandon, results=results)
    return Pipeline(registry, stages, said.tool_timeout, services, admission, CurrentCall())


@asynccontextmanager
async def _live(parts: Parts, executors: Executors, _app: FastAPI) -> AsyncIterator[None]:
    async with AsyncExitStack() as stack:
        close_with(stack, executors)
        await start_all(executors, parts.registry)
        follow_all(executors, parts.registry)
        parts.lifecycle.begin()
        yield
