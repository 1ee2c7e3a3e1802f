"""Servers that do the same work with nothing around it: what no framework and no tool server can undercut."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager

from fastapi import FastAPI
from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from bench.work import TakeArguments, ToolCall, ToolMessage, answer, make_rows, run

_JSON = [(b"content-type", b"application/json")]
LISTING_BYTES = 192_000
# Processes of the route that runs its work in another one.
POOLED = 4


async def raw(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a call as an ASGI application without a framework, and a GET with as many bytes as 1,000 tools have."""
    if scope["type"] != "http":
        return
    body = _LISTING if scope["method"] == "GET" else await answer(await _read(receive))
    headers = [*_JSON, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


_LISTING = b'["' + b"x" * (LISTING_BYTES - 4) + b'"]'


async def _read(receive: Receive) -> bytes:
    chunks: list[bytes] = []
    more = True
    while more:
        message: Message = await receive()
        chunks.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(chunks)


async def _endpoint(request: Request) -> Response:
    return Response(await answer(await request.body()), media_type="application/json")


def echo(text: str) -> str:
    """Return the text, in another process."""
    return text


@asynccontextmanager
async def _open_pool(_: Starlette) -> AsyncIterator[dict[str, ProcessPoolExecutor]]:
    """Give the routes a pool, whose processes start with the first call and would outlive a server that is stopped."""
    with ProcessPoolExecutor(POOLED) as pool:
        yield {"pool": pool}


async def _pooled_endpoint(request: Request) -> Response:
    call = ToolCall.model_validate_json(await request.body())
    content = await asyncio.get_running_loop().run_in_executor(request.state.pool, echo, call.args["text"])
    message = ToolMessage(content=content, tool_call_id=call.id, name=call.name)
    return Response(message.model_dump_json(), media_type="application/json")


async def _slow_endpoint(request: Request) -> Response:
    call = ToolCall.model_validate_json(await request.body())
    await asyncio.sleep(call.args["seconds"])
    message = ToolMessage(content="done", tool_call_id=call.id, name=call.name)
    return Response(message.model_dump_json(), media_type="application/json")


async def _stream_endpoint(request: Request) -> Response:
    times = int(await request.body())

    async def tell() -> AsyncIterator[bytes]:
        for number in range(times):
            said = {"tool_call_id": "call_1", "done": number, "total": times, "message": "on the way"}
            yield b"event: progress\ndata: %b\n\n" % to_json(said)
            if number % 100 == 99:
                await asyncio.sleep(0)

    return StreamingResponse(tell(), media_type="text/event-stream")


async def _rows_endpoint(request: Request) -> Response:
    call = ToolCall.model_validate_json(await request.body())
    return Response(to_json({"content": "rows", "artifact": make_rows(call.args["count"])}))


async def _models_endpoint(request: Request) -> Response:
    call = ToolCall.model_validate_json(await request.body())
    taken = TakeArguments.model_validate(call.args)
    message = ToolMessage(content=str(len(taken.items)), tool_call_id=call.id, name=call.name)
    return Response(message.model_dump_json(), media_type="application/json")


starlette = Starlette(
    routes=[
        Route("/tool_calls", _endpoint, methods=["POST"]),
        Route("/pooled_calls", _pooled_endpoint, methods=["POST"]),
        Route("/slow_calls", _slow_endpoint, methods=["POST"]),
        Route("/stream", _stream_endpoint, methods=["POST"]),
        Route("/rows", _rows_endpoint, methods=["POST"]),
        Route("/models", _models_endpoint, methods=["POST"]),
    ],
    lifespan=_open_pool,
)

fastapi = FastAPI()


@fastapi.post("/tool_calls")
async def create_tool_call(call: ToolCall) -> ToolMessage:
    """Answer a call the way FastAPI's own documentation shows: typed body, typed answer."""
    return await run(call)
