"""Images are made by a service, kept as contents, and shown in each dialect."""

import base64
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from sidecall import ToolMessage
from tests.kit.calls import run
from tests.kit.clients import MakeClient
from tests.kit.events import events_in
from tests.kit.serving import serving_app
from tests.tools import shipped

module = shipped.load("images")
PNG = b"\x89PNG\r\n\x1a\n" + b"heron"
CODED = base64.b64encode(PNG).decode()


@dataclass
class Service:
    """A service that makes images, and what it was asked."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    busy: int = 0

    async def generate(self, request: Request) -> Response:
        """Do what the prompt says."""
        body = await request.json()
        self.asked.append({**body, "key": request.headers.get("authorization")})
        if self.busy:
            self.busy -= 1
            return JSONResponse({"error": {"message": "Busy."}}, 429, headers={"Retry-After": "0.01"})
        answers = {
            "moderated": (400, {"error": {"code": "moderation_blocked", "message": "Violence."}}),
            "broken": (500, {"error": {"message": "Out of order."}}),
            "limited": (429, {"error": {"message": "Too many."}}),
            "nothing": (200, {"data": []}),
            "address": (200, {"data": [{"url": f"{self.url}/made.png"}]}),
        }
        usual = {"data": [{"b64_json": CODED, "revised_prompt": "a grey heron"}], "usage": {"total_tokens": 9}}
        status, answer = answers.get(body["prompt"], (200, usual))
        if body.get("stream"):
            events = [
                {"type": "image_generation.partial_image", "partial_image_index": 0, "b64_json": CODED},
                {"type": "image_generation.completed", "b64_json": CODED, "usage": {"total_tokens": 9}},
            ]
            lines = (f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
            return StreamingResponse(lines, media_type="text/event-stream")
        return JSONResponse(answer, status, headers={"Retry-After": "7"} if status == 429 else None)

    async def edit(self, request: Request) -> Response:
        """Note the form."""
        async with request.form() as form:
            named = [(name, value) for name, value in form.multi_items() if not isinstance(value, str)]
            files = [(name, value.filename, await value.read()) for name, value in named]
            self.asked.append({"prompt": form["prompt"], "n": form["n"], "files": files})
        return JSONResponse({"data": [{"b64_json": CODED}]})

    async def give(self, _: Request) -> Response:
        """Give a made image."""
        return Response(PNG, media_type="image/png")


@pytest.fixture(scope="module", name="served")
def serve_service() -> Iterator[Service]:
    """Serve one for all tests here."""
    service = Service()

    def make(url: str) -> Starlette:
        service.url = url
        return Starlette(
            routes=[
                Route("/v1/images/generations", service.generate, methods=["POST"]),
                Route("/v1/images/edits", service.edit, methods=["POST"]),
                Route("/made.png", service.give),
            ]
        )

    with serving_app(make):
        yield service


@pytest.fixture(name="service")
def configure(served: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    """Let the tool ask it."""
    served.asked.clear()
    served.busy = 0
    monkeypatch.setenv("SIDECALL_IMAGES_URL", f"{served.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    return served


async def draw(prompt: str, **args: Any) -> ToolMessage:
    """Call the tool as a model does."""
    return await run(module.image_generation, {"prompt": prompt, **args})


async def test_an_image_is_made(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the operator's model and key, within less than a tool may usually take."""
    monkeypatch.setenv("SIDECALL_IMAGES_MODEL", "gpt-image-2")
    monkeypatch.setenv("SIDECALL_OUTGOING_MAX_BYTES", "1024")

    message = await draw("a heron", size="1536x1024", quality="low")

    assert message.content == (
        "The image is made: in the artifact, image/png, 13 bytes. It was made from: a grey heron"
    )
    assert message.artifact == {
        "mime": "image/png",
        "bytes": 13,
        "sha256": hashlib.sha256(PNG).hexdigest(),
        "base64": CODED,
        "revised_prompt": "a grey heron",
        "usage": {"total_tokens": 9},
    }
    assert service.asked == [
        {
            "prompt": "a heron",
            "n": 1,
            "size": "1536x1024",
            "quality": "low",
            "background": "auto",
            "output_format": "png",
            "model": "gpt-image-2",
            "key": "Bearer sk-test",
        }
    ]


async def test_an_image_at_an_address_is_fetched(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the guard, as it was not the operator who chose the address."""
    refused = await draw("address")
    monkeypatch.setenv("SIDECALL_OUTGOING_PRIVATE_HOSTS", service.url.removeprefix("http://"))
    fetched = await draw("address")

    assert str(refused.content).startswith("Refused: ")
    assert fetched.artifact["sha256"] == hashlib.sha256(PNG).hexdigest()


async def test_a_busy_service_is_asked_again(service: Service) -> None:
    """When it says, three times at most."""
    service.busy = 2
    made = await draw("a heron")
    service.busy = 3
    given_up = await draw("a heron")

    assert (made.status, given_up.content) == ("success", "No image: 429, Busy.")
    assert len(service.asked) == 6


@pytest.mark.parametrize(
    ("prompt", "content", "retryable"),
    [
        ("moderated", "The service refuses to make this image: Violence. Describe another one.", False),
        ("broken", "No image: 500, Out of order.", True),
        ("nothing", "The service has answered without an image.", False),
    ],
)
async def test_what_the_service_refuses_is_said(service: Service, prompt: str, content: str, retryable: bool) -> None:
    """So that a model can do something else."""
    message = await draw(prompt)

    assert message.content == content
    assert message.response_metadata["error"]["retryable"] is retryable


async def test_a_long_wait_is_the_models(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads until when."""
    monkeypatch.setattr(module, "LONGEST_WAIT", 1.0)

    message = await draw("limited")

    assert message.response_metadata["error"]["retry_after_ms"] == 7000
    assert len(service.asked) == 1


@pytest.mark.parametrize("size", ["100x100", "16", "4000x4000", "16x1024", "auto "])
async def test_a_size_that_there_is_not_is_said(service: Service, size: str) -> None:
    """Before anything is asked."""
    assert str((await draw("a heron", size=size)).content).startswith(f"size: {size!r} is none.")
    assert service.asked == []


async def test_without_a_service_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """To the model, who can tell the user."""
    monkeypatch.delenv("SIDECALL_IMAGES_URL", raising=False)

    message = await draw("a heron")

    assert message.content == "No images can be made: the operator of this server has to set SIDECALL_IMAGES_URL."


async def test_unfinished_images_are_progress(
    service: Service, make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is a content, as the finished one is."""
    monkeypatch.setenv("SIDECALL_IMAGES_PARTIALS", "2")
    client = await make_client(module.image_generation)
    call = {"name": "image_generation", "args": {"prompt": "a heron"}, "id": "call_1"}
    events = events_in((await client.post("/tool_calls", json=call, headers={"Accept": "text/event-stream"})).text)
    [said] = [data["message"] for name, data in events if name == "progress"]
    [artifact] = [data["artifact"] for _, data in events if "artifact" in data]

    assert said.startswith("partial image 1: /contents/")
    assert (await client.get(said.partition(": ")[2])).content == PNG
    assert (await client.get(artifact["url"])).content == PNG
    assert (service.asked[0]["stream"], service.asked[0]["partial_images"]) == (True, 2)


async def test_images_are_changed(service: Service, make_client: MakeClient) -> None:
    """Those that were uploaded or made before."""
    client = await make_client(module.image_generation)
    kept = (await client.post("/contents", content=PNG, headers={"Content-Type": "image/png"})).json()
    args = {"prompt": "red", "action": "edit", "image": [kept["url"]], "mask": kept["id"]}
    call = {"name": "image_generation", "args": args, "id": "call_1"}
    await client.post("/tool_calls", json=call)
    missing = await draw("red", action="edit")
    assert service.asked == [
        {"prompt": "red", "n": "1", "files": [("image[]", "image.png", PNG), ("mask", "mask.png", PNG)]}
    ]
    assert missing.content == "image: name at least one image to change."


async def test_a_conversation_has_its_images(service: Service, make_client: MakeClient, tmp_path: Path) -> None:
    """As files of its workspace, which are named in the answer and can be changed."""
    client = await make_client(module.image_generation, workspace_dir=tmp_path, workspace_max_bytes=1024)
    headers = {"Sidecall-Conversation": "one"}
    call = {"name": "image_generation", "args": {"prompt": "a heron"}, "id": "call_1"}
    made = (await client.post("/tool_calls", json=call, headers=headers)).json()
    path = f"/workspace/images/{hashlib.sha256(PNG).hexdigest()[:12]}.png"
    (file,) = made["artifact"]["files"]
    call["args"] = {"prompt": "red", "action": "edit", "image": [path]}
    changed = (await client.post("/tool_calls", json=call, headers=headers)).json()
    await client.delete(f"/workspaces/one/files/{file['id']}")
    await client.post("/workspaces/one/files", files={"file": ("rest", b"1" * 1020)})
    full = (await client.post("/tool_calls", json={**call, "args": {"prompt": "b"}}, headers=headers)).json()

    assert made["content"].startswith(f"The image is made: {path}, image/png, 13 bytes.")
    assert (file["path"], (await client.get(made["artifact"]["url"])).content) == (path, PNG)
    assert (changed["status"], service.asked[1]["files"]) == ("success", [("image[]", "image.png", PNG)])
    assert full["content"].startswith("The image is made: /contents/")


@pytest.mark.parametrize(
    ("call", "find"),
    [
        (
            {"type": "function_call", "call_id": "c", "name": "image_generation", "arguments": "{}"},
            lambda body: (body["output"][1]["type"], body["output"][1]["image_url"]),
        ),
        (
            {"type": "tool_use", "id": "c", "name": "image_generation", "input": {}},
            lambda body: (body["content"][1]["type"], body["content"][1]["source"]["data"]),
        ),
        (
            {"type": "tool_call", "id": "c", "name": "image_generation", "args": {}},
            lambda body: (body["content"][1]["type"], body["content"][1]["base64"]),
        ),
        (
            {"functionCall": {"id": "c", "name": "image_generation", "args": {}}},
            lambda body: ("image", body["functionResponse"]["parts"][0]["inlineData"]["data"]),
        ),
        (
            {"type": "function_call", "id": "c", "name": "image_generation", "arguments": {}},
            lambda body: (body["result"][1]["type"], body["result"][1]["data"]),
        ),
    ],
)
async def test_a_model_that_wants_to_sees_it(service: Service, make_client: MakeClient, call: Any, find: Any) -> None:
    """In its own dialect."""
    client = await make_client(module.image_generation)
    args = {"prompt": "a heron", "return_image": True}
    body = json.loads(json.dumps(call).replace('"{}"', json.dumps(json.dumps(args))).replace("{}", json.dumps(args)))
    kind, shown = find((await client.post("/tool_calls", json=body)).json())

    assert kind in ("input_image", "image")
    assert shown.removeprefix("data:image/png;base64,") == CODED


async def test_chat_completions_are_told_where_it_is(service: Service, make_client: MakeClient) -> None:
    """They take nothing but text from tools: the whole answer is a content."""
    client = await make_client(module.image_generation)
    args = json.dumps({"prompt": "a heron", "return_image": True})
    call = {"id": "c", "type": "function", "function": {"name": "image_generation", "arguments": args}}
    _, shown = (await client.post("/tool_calls", json=call)).json()["content"]
    place = shown["text"].partition("to be found at ")[2].rstrip("]")

    assert shown["text"].startswith("[image, image/png, 13 bytes, to be found at /contents/")
    assert (await client.get(place)).json()[1]["base64"] == CODED
