"""LangServe: each tool is a runnable under a path of its own."""

import sys

import uvicorn
from fastapi import FastAPI
from langchain_core.tools import tool
from langserve import add_routes


@tool
def add(a: int, b: int) -> int:
    """Add two integers."""
    return a + b


@tool
async def echo(text: str) -> str:
    """Return the text unchanged."""
    return text


def main() -> None:
    """Serve on the port given."""
    app = FastAPI()
    for runnable in (add, echo):
        add_routes(app, runnable, path=f"/{runnable.name}", enabled_endpoints=["invoke", "batch"])
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=False)


if __name__ == "__main__":
    main()
