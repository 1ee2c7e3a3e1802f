"""DBOS: each call is a workflow, which is written down when it begins, and again with its outcome."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from dbos import DBOS
from fastapi import FastAPI
from pydantic import BaseModel


class Asked(BaseModel):
    """What is asked."""

    text: str


@DBOS.workflow()
async def echo(text: str) -> str:
    """Return the text unchanged."""
    return text


async def answer(asked: Asked) -> dict[str, str]:
    """Answer once the outcome is written down."""
    return {"content": await echo(asked.text)}


@asynccontextmanager
async def run_workflows(_app: FastAPI) -> AsyncIterator[None]:
    """Run workflows as long as the server runs."""
    DBOS.launch()
    yield
    DBOS.destroy()


def main() -> None:
    """Serve on the port given, with the database given."""
    _, port, address = sys.argv
    DBOS(config={"name": "bench", "system_database_url": address, "run_admin_server": False, "log_level": "ERROR"})
    app = FastAPI(lifespan=run_workflows)
    app.post("/echo")(answer)
    uvicorn.run(app, host="127.0.0.1", port=int(port), access_log=False, log_level="info")


if __name__ == "__main__":
    main()
