"""arcade-serve: a worker without authentication, as in its own development mode."""

import logging
import os
import sys
from typing import Annotated

import uvicorn
from arcade_serve.fastapi import FastAPIWorker
from arcade_tdk import tool
from fastapi import FastAPI


@tool
def add(a: Annotated[int, "The first."], b: Annotated[int, "The second."]) -> Annotated[int, "The sum."]:
    """Add two integers."""
    return a + b


@tool
async def echo(text: Annotated[str, "Anything."]) -> Annotated[str, "The same."]:
    """Return the text unchanged."""
    return text


def main() -> None:
    """Serve on the port given."""
    os.environ["ARCADE_USAGE_TRACKING"] = "0"
    logging.disable(logging.WARNING)  # It writes several lines for each call.
    app = FastAPI()
    worker = FastAPIWorker(app, disable_auth=True)
    for function in (add, echo):
        worker.register_tool(function, "Bench")
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=False)


if __name__ == "__main__":
    main()
