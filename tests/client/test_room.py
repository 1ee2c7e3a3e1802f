"""The client can be had without the server."""

import subprocess
import sys

from sidecall import client

SERVER = "fastapi starlette uvicorn pydantic pydantic_core prometheus_client langchain_core agents pydantic_ai"


def test_it_takes_httpx_only() -> None:
    """A program that only calls tools loads nothing of what serves them."""
    code = f"import sys, sidecall.client; print(*sorted({set(SERVER.split())!r} & set(sys.modules)))"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)

    assert done.stdout.strip() == ""


def test_everything_it_offers_is_there() -> None:
    """By name."""
    assert [name for name in client.__all__ if not hasattr(client, name)] == []
