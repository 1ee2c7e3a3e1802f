"""A Starlette route that writes rows as an artifact with orjson, the fastest that Python has for it."""

import sys

import orjson
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.work import ToolCall, make_rows


async def answer(request: Request) -> Response:
    """Answer a call that says how many rows it wants."""
    call = ToolCall.model_validate_json(await request.body())
    body = orjson.dumps({"content": "rows", "artifact": make_rows(call.args["count"])})
    return Response(body, media_type="application/json")


if __name__ == "__main__":
    app = Starlette(routes=[Route("/rows", answer, methods=["POST"])])
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), access_log=False)
