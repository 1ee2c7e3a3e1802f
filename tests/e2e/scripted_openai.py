"""A strict, scripted model behind OpenAI's Chat Completions API, on loopback."""

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.kit.serving import serving_app

Message = dict[str, Any]
Script = Callable[[Sequence[Message]], Message]

_PIECE = 5
_ROLES = ("system", "developer", "user", "assistant")


def tool_call(id: str, name: str, arguments: str) -> dict[str, Any]:
    """Write a call as a model emits it."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


FIRST_CALLS = [
    tool_call("call_a", "calculator", '{"expression": "(9 * 9 - 2 * 2) / 7"}'),
    tool_call("call_b", "calculator", '{"expresion": "6 * 7"}'),
]
REPAIRED_CALLS = [tool_call("call_c", "calculator", '{"expression": "6 * 7"}')]


def repairing(messages: Sequence[Message]) -> Message:
    """Ask for two tools, one of them wrongly; ask again for the one that failed; then quote what came back."""
    answers = {message["tool_call_id"]: message["content"] for message in messages if message["role"] == "tool"}
    if not answers:
        return {"role": "assistant", "content": None, "tool_calls": FIRST_CALLS}
    if "call_c" not in answers:
        return {"role": "assistant", "content": None, "tool_calls": REPAIRED_CALLS}
    return {"role": "assistant", "content": f"The results are {answers['call_a']} and {answers['call_c']}."}


def refunding(messages: Sequence[Message]) -> Message:
    """Ask for a note, then for a refund, and quote what became of it."""
    answers = [message["content"] for message in messages if message["role"] == "tool"]
    calls = [
        tool_call("call_a", "remember", '{"text": "late"}'),
        tool_call("call_b", "refund", '{"amount": 5}'),
    ]
    if len(answers) < len(calls):
        return {"role": "assistant", "content": None, "tool_calls": [calls[len(answers)]]}
    return {"role": "assistant", "content": answers[-1]}


def paying(messages: Sequence[Message]) -> Message:
    """Ask for a number and a refund in one turn, and quote what became of both."""
    answers = [message["content"] for message in messages if message["role"] == "tool"]
    calls = [tool_call("call_a", "count", "{}"), tool_call("call_b", "refund", '{"amount": 5}')]
    if not answers:
        return {"role": "assistant", "content": None, "tool_calls": calls}
    return {"role": "assistant", "content": "; ".join(answers)}


def never_done(messages: Sequence[Message]) -> Message:
    """Ask for the same tool in every turn."""
    call = tool_call(f"call_{len(messages)}", "calculator", '{"expression": "6 * 7"}')
    return {"role": "assistant", "content": None, "tool_calls": [call]}


@dataclass
class ScriptedModel:
    """A model that follows a script, refuses what OpenAI would refuse, and remembers what it was asked."""

    script: Script
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)

    async def complete(self, request: Request) -> Response:
        """Answer one request, streaming if it says so."""
        body = await request.json()
        self.requests.append(body)
        complaint = next(complaints(body), None)
        if complaint is not None:
            error = {"message": complaint, "type": "invalid_request_error", "param": None, "code": None}
            return JSONResponse({"error": error}, 400)
        message = self.script(body["messages"])
        if body.get("stream"):
            return StreamingResponse(_events(message), media_type="text/event-stream")
        return JSONResponse(_envelope("chat.completion", {"message": message}, _reason(message)))


def complaints(body: dict[str, Any]) -> Iterator[str]:
    """Say what OpenAI would refuse in a request."""
    if body.get("tools") == []:
        yield "[] is too short - 'tools'"
    for tool in body.get("tools", []):
        if tool.get("type") != "function" or tool["function"]["parameters"]["type"] != "object":
            yield f"Invalid tool: {tool}"
    yield from _conversation_complaints(body["messages"])


def _conversation_complaints(messages: Sequence[Message]) -> Iterator[str]:
    """Hold each call against the answers that have to follow it at once, each once."""
    unanswered: list[Any] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            if message["tool_call_id"] not in unanswered or not isinstance(message["content"], str):
                yield f"messages[{index}] answers no open call, or not with text: {message}"
            unanswered = [call_id for call_id in unanswered if call_id != message["tool_call_id"]]
            continue
        if unanswered:
            yield f"messages[{index}] comes before the answers to {unanswered}"
        unanswered = _asked(message)
        if message["role"] not in _ROLES or None in unanswered or len(set(unanswered)) < len(unanswered):
            yield f"messages[{index}] is malformed: {message}"
    if unanswered or messages[-1]["role"] == "assistant":
        yield f"The last message leaves nothing to say; calls without an answer: {unanswered}"


def _asked(message: Message) -> list[Any]:
    """Give the ids of the calls that a message makes, and None for a call that OpenAI would not have made."""
    return [
        call["id"] if isinstance(call["function"]["arguments"], str) and call["type"] == "function" else None
        for call in message.get("tool_calls") or []
    ]


def _reason(message: Message) -> str:
    return "tool_calls" if "tool_calls" in message else "stop"


def _envelope(kind: str, choice: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choices = [{"index": 0, "finish_reason": reason, **choice}] if choice else []
    return {"id": "chatcmpl-1", "object": kind, "created": 0, "model": "scripted", "choices": choices}


def _events(message: Message) -> Iterator[str]:
    # Azure starts with a chunk that has no choices.
    yield _event({})
    yield _event({"delta": {"role": "assistant", "content": None}})
    for piece in _pieces(message["content"] or ""):
        yield _event({"delta": {"content": piece}})
    for delta in _call_deltas(message.get("tool_calls", [])):
        yield _event({"delta": {"tool_calls": [delta]}})
    yield _event({"delta": {}}, _reason(message))
    yield "data: [DONE]\n\n"


def _event(choice: dict[str, Any], reason: str | None = None) -> str:
    return f"data: {json.dumps(_envelope('chat.completion.chunk', choice, reason))}\n\n"


def _call_deltas(calls: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Cut the arguments anywhere, and mix the pieces of all calls."""
    numbered = list(enumerate(calls))
    for index, call in numbered:
        yield {"index": index, **call, "function": {**call["function"], "arguments": ""}}
    columns = zip_longest(*(_pieces(call["function"]["arguments"]) for _, call in numbered), fillvalue="")
    for pieces in columns:
        for index, piece in enumerate(pieces):
            yield {"index": index, "function": {"arguments": piece}}


def _pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


@contextlib.contextmanager
def running_model(script: Script) -> Iterator[ScriptedModel]:
    """Serve a scripted model in a thread while the body runs."""
    model = ScriptedModel(script)
    app = Starlette(routes=[Route("/v1/chat/completions", model.complete, methods=["POST"])])
    with serving_app(lambda _: app) as url:
        model.url = f"{url}/v1"
        yield model
