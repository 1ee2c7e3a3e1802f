"""Ask models of Google's Gen AI SDK with the tools of a server, by a scripted provider; print what came of each."""

import asyncio
import json
import os
from typing import Any
from uuid import uuid4

import httpx
from google.genai import Client, types

from sidecall.client import ApprovalNeeded, AsyncSidecall, PersonVerdict, Sidecall
from sidecall.client.gemini import AsyncServedModels, ServedModels

FIRST = {"find": {"query": "tea"}, "recall": {"key": "key"}, "double": {"number": "four"}, "draw": {}}
GIVEN: Any = {"state": {"key": "of the state"}, "context": {"user": "Ada"}}
ASK: Any = {"model": "scripted", "contents": "Please."}


def script(*turns: dict[str, Any]) -> tuple[Client, list[Any]]:
    """Make a client whose model asks for tools, turn by turn, and is done then; and keep what it is sent."""
    left, heard = list(turns), []

    def answer(request: httpx.Request) -> httpx.Response:
        heard.append(json.loads(request.content))
        calls = left.pop(0) if left else None
        named = [
            {"functionCall": {"id": f"{name}_{len(left)}.{uuid4().hex}", "name": name, "args": args}}
            for name, args in (calls or {}).items()
        ]
        parts = named or [{"text": "Done."}]
        if "streamGenerateContent" not in request.url.path:
            return httpx.Response(200, json=_write(parts))
        lines = [f"data: {json.dumps(_write([part]))}\r\n\r\n" for part in parts]
        return httpx.Response(200, text="".join(lines), headers={"Content-Type": "text/event-stream"})

    transport = httpx.MockTransport(answer)
    options = types.HttpOptions(client_args={"transport": transport}, async_client_args={"transport": transport})
    return Client(api_key="none", http_options=options), heard


def _write(parts: list[Any]) -> Any:
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}


def answers(heard: list[Any]) -> list[Any]:
    """Return what the model was sent of tools."""
    contents = heard[-1]["contents"]
    return [part["functionResponse"] for content in contents for part in content["parts"] if "functionResponse" in part]


def work(server: Sidecall) -> Any:
    """Let a model work to its end."""
    gemini, heard = script(FIRST, {"double": {"number": 4}})
    kept: list[Any] = []
    models = ServedModels(gemini, server, on_answer=lambda it: kept.append([it.name, it.status, it.artifact]), **GIVEN)
    response = models.generate_content(**ASK, config={"temperature": 0})
    history = [content.role for content in response.automatic_function_calling_history or []]
    return [answers(heard), kept, response.text, history, heard[0]["generationConfig"], len(heard)]


def stream(server: Sidecall) -> Any:
    """Let a model work to its end, chunk by chunk."""
    gemini, heard = script({"find": {"query": "tea"}, "double": {"number": 4}})
    models = ServedModels(gemini, server, filters={"names": ["find", "double"]})
    texts = [chunk.text for chunk in models.generate_content_stream(**ASK) if chunk.text]
    offered = [it["name"] for it in heard[0]["tools"][0]["functionDeclarations"]]
    return [texts, [it["response"] for it in answers(heard)], offered]


def decide(server: Sidecall, verdict: Any) -> Any:
    """Stop for an approval, decide, and go on with what has run."""
    gemini, heard = script({"double": {"number": 4}, "refund": {"order": 7}})
    models = ServedModels(gemini, server)
    response = gemini.models.generate_content(**ASK, config=types.GenerateContentConfig(tools=[*models.tools()]))
    try:
        models.run(response)
    except ApprovalNeeded as needed:
        server.approvals.decide(needed.approvals[0].id, verdict)
        contents = models.run(needed.turn)
        done = gemini.models.generate_content(model="scripted", contents=["Please.", *contents])
        return [done.text, [it["response"] for it in answers(heard)]]
    return None


def ask(server: Sidecall, said: bool) -> Any:
    """Let the program decide at once."""
    gemini, heard = script({"refund": {"order": 7}})
    ServedModels(gemini, server, ask=lambda _: said).generate_content(**ASK)
    return [it["response"] for it in answers(heard)]


def stop(server: Sidecall, **wanted: Any) -> int:
    """Let a model ask without end, and count how often it was asked."""
    gemini, heard = script(*[{"double": {"number": 4}}] * 20)
    config = types.GenerateContentConfig(automatic_function_calling=types.AutomaticFunctionCallingConfig(**wanted))
    ServedModels(gemini, server).generate_content(**ASK, config=config)
    return len(heard)


def cut(server: Sidecall) -> Any:
    """Run the calls of a model that was cut off, which has given them no ids."""
    gemini, _ = script()
    said = _write([{"functionCall": {"name": "double", "args": {"number": number}}} for number in (4, 5)])
    said["candidates"][0]["finishReason"] = "MAX_TOKENS"
    _, answered = ServedModels(gemini, server).run(types.GenerateContentResponse.model_validate(said))
    return [part.function_response.model_dump(exclude_none=True) for part in answered.parts or ()]


def block(server: Sidecall) -> Any:
    """Ask a model that is not let answer, whole and in chunks."""
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}}

    def answer(request: httpx.Request) -> httpx.Response:
        if "streamGenerateContent" not in request.url.path:
            return httpx.Response(200, json=blocked)
        text = f"data: {json.dumps(blocked)}\r\n\r\n"
        return httpx.Response(200, text=text, headers={"Content-Type": "text/event-stream"})

    options = types.HttpOptions(client_args={"transport": httpx.MockTransport(answer)})
    gemini = Client(api_key="none", http_options=options)
    models = ServedModels(gemini, server)
    chunks = list(models.generate_content_stream(**ASK))
    responses = [models.generate_content(**ASK), *chunks]
    reasons = [it.prompt_feedback and it.prompt_feedback.block_reason for it in responses]
    stream = gemini.models.generate_content_stream(**ASK)
    return [reasons, models.run(responses[0]), server.run(responses[0]), server.run(chunks), server.run(stream)]


async def work_async() -> Any:
    """Do the same on an event loop."""
    gemini, heard = script({"find": {"query": "tea"}})
    again, _ = script({"find": {"query": "tea"}})
    async with AsyncSidecall(os.environ["SIDECALL_URL"]) as server:
        response = await AsyncServedModels(gemini, server, **GIVEN).generate_content(**ASK)
        models = AsyncServedModels(again, server, **GIVEN)
        texts = [chunk.text async for chunk in await models.generate_content_stream(**ASK) if chunk.text]
        more = [chunk.text async for chunk in models.generate_content_stream(**ASK) if chunk.text]
        left = models.generate_content_stream(**ASK)
        await left.aclose()
        none = [chunk async for chunk in left]
    return [response.text, texts, more, none, [it["response"] for it in answers(heard)]]


with Sidecall(os.environ["SIDECALL_URL"]) as known:
    print(json.dumps({
        "work": work(known),
        "stream": stream(known),
        "approved": decide(known, PersonVerdict("approve", args={"order": 7, "amount": 5})),
        "rejected": decide(known, PersonVerdict("reject", reason="Ask for a receipt first.")),
        "asked": [ask(known, True), ask(known, False)],
        "bounds": [
            stop(known),
            *(stop(known, maximum_remote_calls=most) for most in (3, 0)),
            stop(known, disable=True),
        ],
        "blocked": block(known),
        "cut": cut(known),
        "async": asyncio.run(work_async()),
    }))  # fmt: skip
