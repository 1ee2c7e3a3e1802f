"""Procrastinate: each call is a job of a worker in the same process; what it returns is kept nowhere but in memory."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from uuid import uuid4

import uvicorn
from fastapi import FastAPI
from procrastinate import App, PsycopgConnector
from pydantic import BaseModel

_, PORT, ADDRESS = sys.argv
jobs = App(connector=PsycopgConnector(conninfo=ADDRESS, min_size=4, max_size=20))
finish = jobs.job_manager.finish_job
returned: dict[str, str] = {}
waiting: dict[str, asyncio.Future[str]] = {}


class Asked(BaseModel):
    """What is asked."""

    text: str


@jobs.task
async def echo(call_id: str, text: str) -> None:
    """Return the text unchanged."""
    returned[call_id] = text


async def finish_and_tell(job: Any, *args: Any, **options: Any) -> None:
    """Write the end of a job, and notify its waiter."""
    await finish(job, *args, **options)
    call_id = job.task_kwargs["call_id"]
    waiting.pop(call_id).set_result(returned.pop(call_id))


async def answer(asked: Asked) -> dict[str, str]:
    """Answer once it is written down that the job has ended."""
    call_id = uuid4().hex
    coming = waiting[call_id] = asyncio.get_running_loop().create_future()
    await echo.defer_async(call_id=call_id, text=asked.text)
    return {"content": await coming}


@asynccontextmanager
async def working(_app: FastAPI) -> AsyncIterator[None]:
    """Run jobs as long as the server runs."""
    jobs.job_manager.finish_job = finish_and_tell
    async with jobs.open_async():
        await jobs.schema_manager.apply_schema_async()
        worker = asyncio.create_task(jobs.run_worker_async(concurrency=100, install_signal_handlers=False))
        yield
        worker.cancel()
        with suppress(asyncio.CancelledError):
            await worker


def main() -> None:
    """Serve on the port given, with the database given."""
    app = FastAPI(lifespan=working)
    app.post("/echo")(answer)
    uvicorn.run(app, host="127.0.0.1", port=int(PORT), access_log=False, log_level="info")


if __name__ == "__main__":
    main()
