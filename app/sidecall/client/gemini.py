"""Google's Gen AI SDK with the tools of a server, in place of `gemini.models`."""

import base64
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from typing import Any, Self, TypedDict, Unpack, cast

from google.genai import Client, types

from sidecall.client.answers import ToolAnswer
from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall
from sidecall.client.blocks import MediaBlock, read_blocks
from sidecall.client.model_output import Turn, read_turn
from sidecall.client.options import CallOptions, ToolFilters

# How often the SDK's own loop asks a model.
_MOST = 10
_ONCE = types.AutomaticFunctionCallingConfig(disable=True, maximum_remote_calls=None)


class LoopOptions(CallOptions, total=False):
    """Options of calls; `on_answer` receives each answer, with the artifact and status that no model sees."""

    on_answer: Callable[[ToolAnswer], Any]


class ModelRequest(TypedDict, total=False):
    """The arguments of the SDK's `models.generate_content`."""

    model: str
    contents: Any
    config: Any


class ServedModels:
    """Replaces `gemini.models`: models call the server's tools until they are done.

    As with functions of the SDK, `config.automatic_function_calling` bounds the number of model requests, and a
    response's `automatic_function_calling_history` is the conversation before it.
    """

    def __init__(
        self, gemini: Client, server: Sidecall, *, filters: ToolFilters | None = None, **options: Unpack[LoopOptions]
    ) -> None:
        # Kept, because it closes its connections when it is collected.
        self._gemini = gemini
        self._server = server
        self._filters = filters or ToolFilters()
        self._options = options

    def tools(self) -> list[types.Tool]:
        """Return the server's tools as the SDK takes them."""
        return _read_tools(self._server.tools("gemini", **self._filters))

    def run(self, response: Any, **options: Unpack[LoopOptions]) -> list[types.Content]:
        """Run the calls of a response, whole or in chunks, and return the contents to append; none without calls.

        Raises:
            ApprovalNeeded: A person has to decide; afterwards give its `turn` in the place of the response.
        """
        turn, wanted = _read_calls(response), cast("LoopOptions", {**self._options, **options})
        return _write_contents(self._server.run(turn, **_leave_listener(wanted)), wanted) if turn.calls else []

    def generate_content(self, **request: Unpack[ModelRequest]) -> types.GenerateContentResponse:
        """Ask a model until it calls no more tools."""
        loop = _Conversation(request, self.tools())
        while True:
            response = self._gemini.models.generate_content(**loop.request)
            if not loop.goes_on or not loop.add(self.run(response)):
                response.automatic_function_calling_history = loop.contents
                return response

    def generate_content_stream(self, **request: Unpack[ModelRequest]) -> Iterator[types.GenerateContentResponse]:
        """Ask a model until it calls no more tools, and yield the chunks of all its answers."""
        loop = _Conversation(request, self.tools())
        while True:
            chunks = []
            for chunk in self._gemini.models.generate_content_stream(**loop.request):
                chunks.append(chunk)
                yield chunk
            if not (chunks and loop.goes_on and loop.add(self.run(chunks))):
                return


class AsyncServedModels:
    """Replaces `gemini.aio.models`; the asynchronous `ServedModels`."""

    def __init__(
        self,
        gemini: Client,
        server: AsyncSidecall,
        *,
        filters: ToolFilters | None = None,
        **options: Unpack[LoopOptions],
    ) -> None:
        # Kept, because it closes its connections when it is collected.
        self._gemini = gemini
        self._server = server
        self._filters = filters or ToolFilters()
        self._options = options

    async def tools(self) -> list[types.Tool]:
        """Return the server's tools as the SDK takes them."""
        return _read_tools(await self._server.tools("gemini", **self._filters))

    async def run(self, response: Any, **options: Unpack[LoopOptions]) -> list[types.Content]:
        """Run the calls of a response, whole or in chunks, and return the contents to append; none without calls.

        Raises:
            ApprovalNeeded: A person has to decide; afterwards give its `turn` in the place of the response.
        """
        turn, wanted = _read_calls(response), cast("LoopOptions", {**self._options, **options})
        return _write_contents(await self._server.run(turn, **_leave_listener(wanted)), wanted) if turn.calls else []

    async def generate_content(self, **request: Unpack[ModelRequest]) -> types.GenerateContentResponse:
        """Ask a model until it calls no more tools."""
        loop = _Conversation(request, await self.tools())
        while True:
            response = await self._gemini.aio.models.generate_content(**loop.request)
            if not loop.goes_on or not loop.add(await self.run(response)):
                response.automatic_function_calling_history = loop.contents
                return response

    def generate_content_stream(self, **request: Unpack[ModelRequest]) -> "ChunkStream":
        """Ask a model until it calls no more tools, and yield the chunks of all its answers, awaited or not."""
        return ChunkStream(self._stream(request))

    async def _stream(self, request: ModelRequest) -> AsyncGenerator[types.GenerateContentResponse, None]:
        loop = _Conversation(request, await self.tools())
        while True:
            chunks = []
            async for chunk in await self._gemini.aio.models.generate_content_stream(**loop.request):
                chunks.append(chunk)
                yield chunk
            if not (chunks and loop.goes_on and loop.add(await self.run(chunks))):
                return


class ChunkStream(AsyncIterator[types.GenerateContentResponse]):
    """The chunks of a model: `async for chunk in await stream`, as in the SDK, or without `await`."""

    def __init__(self, chunks: AsyncGenerator[types.GenerateContentResponse, None]) -> None:
        self._chunks = chunks

    def __await__(self) -> Generator[Any, Any, Self]:
        return self._return_itself().__await__()

    async def _return_itself(self) -> Self:
        return self

    async def __anext__(self) -> types.GenerateContentResponse:
        return await anext(self._chunks)

    async def aclose(self) -> None:
        """Stop asking."""
        await self._chunks.aclose()


class _Conversation:
    """The conversation with a model."""

    def __init__(self, request: ModelRequest, tools: list[types.Tool]) -> None:
        config = types.GenerateContentConfig.model_validate(request.get("config") or {})
        wanted = config.automatic_function_calling or types.AutomaticFunctionCallingConfig()
        most = _MOST if wanted.maximum_remote_calls is None else wanted.maximum_remote_calls
        self._left = 1 if wanted.disable else most
        self._model = request["model"]
        more = {"tools": [*(config.tools or []), *tools], "automatic_function_calling": _ONCE}
        self._config = config.model_copy(update=more)
        self.contents = _list_contents(request["contents"])

    @property
    def request(self) -> dict[str, Any]:
        """The next request for the SDK."""
        return {"model": self._model, "contents": self.contents, "config": self._config}

    @property
    def goes_on(self) -> bool:
        """Whether to ask the model again; every answer of it is checked at once."""
        self._left -= 1
        return self._left > 0

    def add(self, contents: list[types.Content]) -> bool:
        """Append the model's message and the answers of its tools; return whether there were any."""
        # A new list: the responses before have the old one.
        self.contents = [*self.contents, *contents]
        return bool(contents)


def _list_contents(given: Any) -> list[types.Content]:
    """Normalize contents as the SDK does: adjacent parts are one user message."""
    contents: list[types.Content] = []
    parts: list[Any] = []
    for item in given if isinstance(given, list) else [given]:
        is_content = isinstance(item, types.Content) or (isinstance(item, dict) and "parts" in item)
        if not is_content:
            parts.append(item)
            continue
        contents += [types.UserContent(parts)] if parts else []
        contents.append(types.Content.model_validate(item))
        parts = []
    return [*contents, types.UserContent(parts)] if parts else contents


def _read_tools(listed: list[Any]) -> list[types.Tool]:
    return [types.Tool.model_validate(tool) for tool in listed]


def _leave_listener(options: LoopOptions) -> CallOptions:
    return cast("CallOptions", {key: value for key, value in options.items() if key != "on_answer"})


def _read_calls(response: Any) -> Turn:
    """Read the calls of a response."""
    turn = read_turn(response)
    if turn.form != "gemini":  # one that was stopped for a person
        return turn
    calls = [_rename(call) for call in turn.calls]
    return Turn("langchain", [types.Content.model_validate(said) for said in turn.said], calls)


def _rename(sent: dict[str, Any]) -> dict[str, Any]:
    call = sent["functionCall"]
    beside = {key: value for key, value in sent.items() if key != "functionCall"}
    return {"type": "tool_call", "id": call["id"], "name": call["name"], "args": call.get("args") or {}, **beside}


def _write_contents(messages: list[Any], options: LoopOptions) -> list[types.Content]:
    said, *answered = messages
    answers = [ToolAnswer.read(message) for message in answered]
    if (listener := options.get("on_answer")) is not None:
        for answer in answers:
            listener(answer)
    known = {part.function_call.id for part in said.parts or () if part.function_call is not None}
    return [said, types.Content(role="user", parts=[_write_part(answer, known) for answer in answers])]


def _write_part(answer: ToolAnswer, known: set[str | None]) -> types.Part:
    blocks = read_blocks(answer.content)
    media = [block for block in blocks if isinstance(block, MediaBlock)]
    text = "\n".join(block for block in blocks if isinstance(block, str))
    response = types.FunctionResponse(
        id=answer.tool_call_id if answer.tool_call_id in known else None,
        name=answer.name,
        response={"error" if answer.status == "error" else "output": text},
        parts=[_write_medium(medium) for medium in media] or None,
    )
    return types.Part(function_response=response)


def _write_medium(medium: MediaBlock) -> types.FunctionResponsePart:
    if medium.data is not None:
        data = base64.b64decode(medium.data)
        return types.FunctionResponsePart.from_bytes(data=data, mime_type=medium.type)
    return types.FunctionResponsePart.from_uri(file_uri=medium.url or medium.file_id or "", mime_type=medium.type)
