"""The async client; the counterpart of `blocking.py`."""

import asyncio
import inspect
import threading
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Self, TypeVar, Unpack

import httpx

from sidecall.client.answers import CallApproval, CallEvent, CallState, PersonVerdict, ToolAnswer
from sidecall.client.connection import ClientOptions, arrange, make_operations, make_transport, prepare_request
from sidecall.client.durable_calls import comes_as_events
from sidecall.client.model_output import Turn, find_final, read_turn, run_turn
from sidecall.client.operations import Operations, name_call
from sidecall.client.options import CallOptions, ToolFilters
from sidecall.client.steps import Asking, Giving, Pausing, Sending, Steps, Taking, Walk
from sidecall.client.streams import follow_job, stream_batch


class LoopClients:
    """Keeps a client for each event loop; the first is made at once, to report wrong arguments then."""

    def __init__(self, arranged: Mapping[str, Any]) -> None:
        self._arranged = arranged
        self._spare: httpx.AsyncClient | None = self._make()
        self._lock = threading.Lock()
        # Under None is the one of programs whose event loops are not asyncio's.
        self._clients: dict[asyncio.AbstractEventLoop | None, httpx.AsyncClient] = {}

    def find(self) -> httpx.AsyncClient:
        """Return the client of this event loop.

        Raises:
            RuntimeError: Its transport serves another one.
        """
        loop = _find_loop()
        return self._clients.get(loop) or self._begin(loop)

    async def close(self) -> None:
        """Close the connections of this event loop."""
        await self.find().aclose()

    def _begin(self, loop: asyncio.AbstractEventLoop | None) -> httpx.AsyncClient:
        with self._lock:
            # Connections of a loop that has ended can only be dropped.
            for other in [it for it in self._clients if it is not None and it.is_closed()]:
                del self._clients[other]
            spare, self._spare = self._spare, None
            client = self._clients[loop] = spare or self._make_another()
        return client

    def _make(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(**make_transport(self._arranged))

    def _make_another(self) -> httpx.AsyncClient:
        if isinstance(self._arranged.get("transport"), httpx.AsyncHTTPTransport):
            raise RuntimeError(
                "This transport serves the event loop alone that used it first. Give `transport` a function that makes "
                "one, such as `lambda: httpx.AsyncHTTPTransport(...)`, or make an AsyncSidecall for each event loop."
            )
        return self._make()


def _find_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


T = TypeVar("T")


@dataclass(frozen=True)
class AsyncOpenStream:
    """A streamed answer, and its lines."""

    response: httpx.Response
    lines: AsyncIterator[str]


class AsyncPerformer:
    """Performs steps."""

    def __init__(self, clients: LoopClients) -> None:
        self.clients = clients

    async def run(self, steps: Steps[T]) -> T:
        """Run steps to their end, and return their result."""
        walk = Walk(steps)
        async with AsyncExitStack() as streams:
            while not walk.has_ended:
                await self._advance(walk, streams)
        return walk.result

    async def flow(self, steps: Steps[None]) -> AsyncIterator[Any]:
        """Run steps, and yield their values; streams are closed when iteration stops."""
        walk = Walk(steps)
        async with AsyncExitStack() as streams:
            while not walk.has_ended:
                if isinstance(walk.step, Giving):
                    yield walk.step.event
                    walk.go_on()
                else:
                    await self._advance(walk, streams)

    async def _advance(self, walk: Walk[Any], streams: AsyncExitStack) -> None:
        try:
            done = await self._perform(walk.step, streams)
        except httpx.TransportError as error:
            walk.fail(error)
        else:
            walk.go_on(done)

    async def _perform(self, step: Any, streams: AsyncExitStack) -> Any:
        match step:
            case Sending():
                return await self._send(step, streams)
            case Taking(stream):
                return await anext(stream.lines, None)
            case Pausing(seconds):
                return await asyncio.sleep(seconds)
            case Asking(question, about):
                said = question(about)
                return await said if inspect.isawaitable(said) else said
        raise TypeError(step)

    async def _send(self, sending: Sending, streams: AsyncExitStack) -> Any:
        client = self.clients.find()
        response = await client.send(prepare_request(client, sending), stream=sending.is_stream)
        if not sending.is_stream:
            return response
        streams.push_async_callback(response.aclose)
        if not (response.is_success and comes_as_events(response)):
            await response.aread()
        return AsyncOpenStream(response, response.aiter_lines())


class AsyncSidecall:
    """A client of a Sidecall server, for `async with`; defaults are `SIDECALL_URL` and `SIDECALL_API_KEY`.

    Several event loops may share one; each has its own connections.
    """

    def __init__(self, url: str | None = None, **options: Unpack[ClientOptions]) -> None:
        self._operations = make_operations(options)
        self._performer = AsyncPerformer(LoopClients(arrange(url, options)))
        self.approvals = AsyncApprovalDesk(self._operations, self._performer)

    async def tools(self, format: str = "openai", **filters: Unpack[ToolFilters]) -> list[Any]:
        """List the tools in a provider's form; an unchanged list is not fetched again."""
        return await self._performer.run(self._operations.list_tools(format, filters))

    async def tool(self, name: str) -> dict[str, Any]:
        """Return everything about one tool."""
        return await self._performer.run(self._operations.show_tool(name))

    async def show_tools(self, **filters: Unpack[ToolFilters]) -> list[dict[str, Any]]:
        """Yield everything about each listed tool."""
        return await self._performer.run(self._operations.show_tools(filters))

    async def call(
        self, call: Any, args: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]
    ) -> ToolAnswer:
        """Run a tool, by name and arguments or by a model's call.

        Raises:
            ApprovalNeeded: A person has to decide.
        """
        return await self._performer.run(self._operations.call(name_call(call, args), options))

    async def preview(
        self, call: Any, args: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]
    ) -> dict[str, Any]:
        """Dry-run a call: `would_run`, `args`, `requires_approval`, `sign_in`…"""
        return await self._performer.run(self._operations.preview(name_call(call, args), options))

    async def batch(self, calls: Sequence[Any], **options: Unpack[CallOptions]) -> list[ToolAnswer]:
        """Run calls concurrently; the answers are in the calls' order.

        Raises:
            ApprovalNeeded: A person has to decide about some; `run` goes on with its `turn`.
        """
        turn = Turn("langchain", [], [name_call(call) for call in calls])
        return [
            ToolAnswer.read(it) for it in (await self._performer.run(run_turn(turn, self._operations, options))).answers
        ]

    async def run(self, response: Any, *, answers_only: bool = False, **options: Unpack[CallOptions]) -> list[Any]:
        """Run the calls in a model's answer, and return the messages to append; none if it calls no tool.

        `response` is an answer of OpenAI (Chat Completions or Responses), Anthropic, Gemini or Ollama, as an object of
        their SDKs or a dict, whole or as the chunks of a stream. The model's message comes first, unless
        `answers_only`. Ids made for calls without one are also written into the response.

        Raises:
            ApprovalNeeded: A person has to decide; afterwards give its `turn` in the place of the response.
        """
        if inspect.iscoroutinefunction(final := find_final(response)):
            response = await final()
        elif isinstance(response, AsyncIterable):
            response = [chunk async for chunk in response]
        turn = await self._performer.run(run_turn(read_turn(response), self._operations, options))
        return turn.replies if turn.calls and answers_only else turn.messages

    def stream(self, call: Any, args: Any = None, **options: Unpack[CallOptions]) -> AsyncIterator[CallEvent]:
        """Run a call, or a list of calls, and yield progress, parts and answers."""
        if isinstance(call, list):
            calls = [name_call(it) for it in call]
            return self._performer.flow(stream_batch(calls, options, self._operations.persistence))
        return self._performer.flow(self._operations.stream(name_call(call, args), options))

    async def job(self, call: Any, args: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]) -> "AsyncJob":
        """Start a durable call, without waiting for it."""
        state = await self._performer.run(self._operations.submit(name_call(call, args), options))
        return AsyncJob(state.id, self._operations, self._performer, state)

    def find_job(self, call_id: str) -> "AsyncJob":
        """Return a durable call by its id, also one of another program."""
        return AsyncJob(call_id, self._operations, self._performer)

    async def close(self) -> None:
        """Close the connections of this event loop."""
        await self._performer.clients.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_details: object) -> None:
        await self.close()


class AsyncJob:
    """A durable call; `known` is its state when it was sent."""

    def __init__(
        self, call_id: str, operations: Operations, performer: AsyncPerformer, known: CallState | None = None
    ) -> None:
        self.id = call_id
        self._known = known
        self._operations = operations
        self._performer = performer

    async def show(self) -> CallState:
        """Return its state."""
        return await self._performer.run(self._operations.show_call(self.id, known=self._known))

    async def wait(self, seconds: float | None = None) -> CallState:
        """Return its state once it has ended, or after `seconds`."""
        return await self._performer.run(self._operations.wait_for(self.id, seconds, self._known))

    def events(self) -> AsyncIterator[CallEvent]:
        """Yield its events until the answer, reconnecting if necessary."""
        return self._performer.flow(follow_job(self.id, self._operations.persistence, self._known))

    async def cancel(self) -> CallState:
        """Cancel the call."""
        return await self._performer.run(self._operations.cancel(self.id))


class AsyncApprovalDesk:
    """The calls that wait for a person."""

    def __init__(self, operations: Operations, performer: AsyncPerformer) -> None:
        self._operations = operations
        self._performer = performer

    async def list(self, status: str | None = "pending") -> list[CallApproval]:
        """List approvals, oldest first; with None also decided ones."""
        return await self._performer.run(self._operations.list_approvals(status))

    async def show(self, approval_id: str) -> CallApproval:
        """Return an approval."""
        return await self._performer.run(self._operations.show_approval(approval_id))

    async def approve(
        self, approval_id: str, args: dict[str, Any] | None = None, reason: str | None = None
    ) -> CallApproval:
        """Approve the call, possibly with other arguments, and return it with its answer."""
        return await self.decide(approval_id, PersonVerdict("approve", args, reason))

    async def reject(self, approval_id: str, reason: str | None = None) -> CallApproval:
        """Reject the call; the model reads the reason."""
        return await self.decide(approval_id, PersonVerdict("reject", reason=reason))

    async def decide(self, approval_id: str, verdict: PersonVerdict) -> CallApproval:
        """Decide about the call, with a verdict that may hold for all later ones."""
        return await self._performer.run(self._operations.decide(approval_id, verdict))
