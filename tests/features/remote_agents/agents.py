"""Agents of real servers, in this process: one of A2A's own SDK, and endpoints of Chat Completions and Responses."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from a2a.helpers.proto_helpers import new_task_from_user_message, new_text_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandlerV2
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, Part, TaskState
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Mount, Route

from tests.kit.serving import serving_app
from tests.kit.waiting import PATIENCE


@dataclass
class Heard:
    """What the agents were told, by all of a test."""

    url: str = ""
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    started: threading.Event = field(default_factory=threading.Event)


class _Agent(AgentExecutor):
    """Do what the text says."""

    def __init__(self, heard: Heard) -> None:
        self._heard = heard

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        text = context.get_user_input()
        self._heard.texts.append(text)
        if text == "wait, and say nothing yet":
            self._heard.started.set()
            await asyncio.sleep(0.4)
            text = "wait"
        if context.current_task is None:
            assert context.message is not None
            await event_queue.enqueue_event(new_task_from_user_message(context.message))
        assert context.task_id is not None
        assert context.context_id is not None
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task is not None and context.current_task.status.state in (
            TaskState.TASK_STATE_INPUT_REQUIRED,
            TaskState.TASK_STATE_AUTH_REQUIRED,
        ):
            await self._go_on(updater, text)
            return
        await updater.start_work(new_text_message("Looking it up."))
        await self._begin(updater, text)

    async def _begin(self, updater: TaskUpdater, text: str) -> None:
        if text == "wait":
            self._heard.started.set()
            await asyncio.sleep(PATIENCE)
        if text == "ask":
            await updater.requires_input(new_text_message("Which city?"))
        elif text == "sign in":
            await updater.requires_auth(new_text_message("Sign in at the bank."))
        elif text == "fail":
            await updater.failed(new_text_message("No such account."))
        elif text == "file":
            await updater.add_artifact([Part(text="Here it is."), Part(raw=b"\x00\x01", media_type="image/png")])
            await updater.complete()
        else:
            await updater.add_artifact([Part(text="Sunny, "), Part(text="21 degrees.")])
            await updater.complete(new_text_message("Done."))

    async def _go_on(self, updater: TaskUpdater, text: str) -> None:
        if text == "again":
            await updater.requires_input(new_text_message("Which street?"))
            return
        await updater.add_artifact([Part(text=f"You said: {text}")])
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.task_id is not None
        assert context.context_id is not None
        self._heard.cancelled.append(context.task_id)
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def _offer_a2a(heard: Heard, url: str, binding: str, version: str, prefix: str, *, streams: bool) -> list[Any]:
    card = AgentCard(
        name="Weather",
        description="Knows the weather.",
        version="1",
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="weather", name="Weather", description="Says it.", tags=["weather"])],
        capabilities=AgentCapabilities(streaming=streams),
        supported_interfaces=[
            AgentInterface(url=f"{url}{prefix}/speak", protocol_binding=binding, protocol_version=version)
        ],
    )
    handler = DefaultRequestHandlerV2(_Agent(heard), InMemoryTaskStore(), card)
    routes: list[Any] = [*create_agent_card_routes(card)]
    if binding == "JSONRPC":
        routes += create_jsonrpc_routes(handler, "/speak")
    else:
        routes.append(Mount("/speak", routes=create_rest_routes(handler)))
    return [Mount(prefix, routes=routes)]


def _note(heard: Heard, request: Request, body: Any) -> None:
    heard.bodies.append(body)
    heard.headers.append(dict(request.headers))


def _stream(events: list[Any]) -> Response:
    lines = [f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n" for event in events]
    return StreamingResponse(iter(lines), media_type="text/event-stream")


def _offer_chat(heard: Heard) -> Route:
    async def answer(request: Request) -> Response:
        body = await request.json()
        _note(heard, request, body)
        text = body["messages"][0]["content"]
        usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
        if text == "busy":
            return JSONResponse({"error": {"message": "Too many."}}, 429, headers={"Retry-After": "3"})
        if text == "tools":
            return JSONResponse({"choices": [{"message": {"content": None, "tool_calls": [{"id": "1"}]}}]})
        if not body.get("stream"):
            return JSONResponse({"choices": [{"message": {"content": "It is sunny."}}], "usage": usage})
        deltas = [{"choices": [{"delta": {"content": word}}]} for word in ("It is ", "sunny.")]
        return _stream([*deltas, {"choices": [], "usage": usage}, "[DONE]"])

    return Route("/v1/chat/completions", answer, methods=["POST"])


def _make_response(said: Any, number: int) -> dict[str, Any]:
    usage = {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    base = {"id": f"resp_{number}", "object": "response", "status": "completed", "usage": usage}
    if said == "ask":
        item = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "transfer", "arguments": '{"sum": 5}'}
        return {**base, "output": [item]}
    if said == "fail":
        return {**base, "status": "failed", "error": {"message": "Out of order."}, "output": []}
    text = json.dumps(said) if isinstance(said, list) else f"Echo: {said}"
    return {**base, "output": [{"type": "message", "content": [{"type": "output_text", "text": text}]}]}


def _offer_responses(heard: Heard) -> list[Route]:
    async def answer(request: Request) -> Response:
        body = await request.json()
        _note(heard, request, body)
        found = _make_response(body["input"], len(heard.bodies))
        if body["input"] == "queue":
            return JSONResponse({**found, "status": "queued", "output": []})
        if not body.get("stream"):
            return JSONResponse(found)
        created = {"type": "response.created", "response": {**found, "status": "in_progress", "output": []}}
        deltas = [{"type": "response.output_text.delta", "delta": "Echo"}]
        kind = "response.failed" if found["status"] == "failed" else "response.completed"
        return _stream([created, *deltas, {"type": kind, "response": found}])

    async def poll(request: Request) -> Response:
        return JSONResponse(_make_response("polled", 1))

    async def cancel(request: Request) -> Response:
        heard.cancelled.append(request.path_params["id"])
        return JSONResponse({})

    return [
        Route("/v1/responses", answer, methods=["POST"]),
        Route("/v1/responses/{id}", poll),
        Route("/v1/responses/{id}/cancel", cancel, methods=["POST"]),
    ]


@contextmanager
def serving_agents() -> Iterator[Heard]:
    """Serve all of them on one socket of this machine."""
    heard = Heard()

    def make(url: str) -> Starlette:
        heard.url = url
        routes: list[Any] = [_offer_chat(heard), *_offer_responses(heard)]
        for prefix, binding, version, streams in (
            ("/rpc", "JSONRPC", "1.0", True),
            ("/polled", "JSONRPC", "1.0", False),
            ("/rest", "HTTP+JSON", "1.0", True),
            ("/old", "JSONRPC", "0.3", True),
        ):
            routes += _offer_a2a(heard, url, binding, version, prefix, streams=streams)
        return Starlette(routes=routes)

    with serving_app(make):
        yield heard
