"""A tool that names the framework's files between itself and the server, so that a call says which way it came."""

import sys
from pathlib import Path

from sidecall import tool

# Where FastAPI and Starlette find the route of a request, and go through their middleware.
FRAMEWORK = ("fastapi/routing.py", "starlette/routing.py", "starlette/middleware/exceptions.py")


@tool
async def way() -> dict[str, list[str]]:
    """List the framework's files that this call came through."""
    frame = sys._getframe()
    files: list[str] = []
    while frame is not None:
        files.append(Path(frame.f_code.co_filename).as_posix())
        frame = frame.f_back
    return {"files": sorted({name for name in FRAMEWORK for file in files if file.endswith(name)})}
