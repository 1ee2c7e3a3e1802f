"""The sync client."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Self, TypeVar, Unpack

import httpx

from sidecall.client.answers import CallApproval, CallEvent, CallState, PersonVerdict, ToolAnswer
from sidecall.client.connection import ClientOptions, arrange, make_operations, make_transport, prepare_request
from sidecall.client.durable_calls import comes_as_events
from sidecall.client.model_output import Turn, read_turn, run_turn
from sidecall.client.operations import Operations, name_call
from sidecall.client.options import CallOptions, ToolFilters
from sidecall.client.steps import Asking, Giving, Pausing, Sending, Steps, Taking, Walk
from sidecall.client.streams import follow_job, stream_batch

T = TypeVar("T")


@dataclass(frozen=True)
class OpenStream:
    """A streamed answer, and its lines."""

    response: httpx.Response
    lines: Iterator[str]


class Performer:
    """Performs steps."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def run(self, steps: Steps[T]) -> T:
        """Run steps to their end, and return their result."""
        walk = Walk(steps)
        with ExitStack() as streams:
            while not walk.has_ended:
                self._advance(walk, streams)
        return walk.result

    def flow(self, steps: Steps[None]) -> Iterator[Any]:
        """Run steps, and yield their values; streams are closed when iteration stops."""
        walk = Walk(steps)
        with ExitStack() as streams:
            while not walk.has_ended:
                if isinstance(walk.step, Giving):
                    yield walk.step.event
                    walk.go_on()
                else:
                    self._advance(walk, streams)

    def _advance(self, walk: Walk[Any], streams: ExitStack) -> None:
        try:
            done = self._perform(walk.step, streams)
        except httpx.TransportError as error:
            walk.fail(error)
        else:
            walk.go_on(done)

    def _perform(self, step: Any, streams: ExitStack) -> Any:
        match step:
            case Sending():
                return self._send(step, streams)
            case Taking(stream):
                return next(stream.lines, None)
            case Pausing(seconds):
                return time.sleep(seconds)
            case Asking(question, about):
                return question(about)
        raise TypeError(step)

    def _send(self, sending: Sending, streams: ExitStack) -> Any:
        response = self.client.send(prepare_request(self.client, sending), stream=sending.is_stream)
        if not sending.is_stream:
            return response
        streams.callback(response.close)
        if not (response.is_success and comes_as_events(response)):
            response.read()
        return OpenStream(response, response.iter_lines())


class Sidecall:
    """A client of a Sidecall server, for `with`; defaults are `SIDECALL_URL` and `SIDECALL_API_KEY`."""

    def __init__(self, url: str | None = None, **options: Unpack[ClientOptions]) -> None:
        self._operations = make_operations(options)
        self._performer = Performer(httpx.Client(**make_transport(arrange(url, options))))
        self.approvals = ApprovalDesk(self._operations, self._performer)

    def tools(self, format: str = "openai", **filters: Unpack[ToolFilters]) -> list[Any]:
        """List the tools in a provider's form; an unchanged list is not fetched again."""
        return self._performer.run(self._operations.list_tools(format, filters))

    def tool(self, name: str) -> dict[str, Any]:
        """Return everything about one tool."""
        return self._performer.run(self._operations.show_tool(name))

    def show_tools(self, **filters: Unpack[ToolFilters]) -> list[dict[str, Any]]:
        """Yield everything about each listed tool."""
        return self._performer.run(self._operations.show_tools(filters))

    def call(self, call: Any, args: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]) -> ToolAnswer:
        """Run a tool, by name and arguments or by a model's call.

        Raises:
            ApprovalNeeded: A person has to decide.
        """
        return self._performer.run(self._operations.call(name_call(call, args), options))

    def preview(
        self, call: Any, args: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]
    ) -> dict[str, Any]:
        """Dry-run a call: `would_run`, `args`, `requires_approval`, `sign_in`…"""
        return self._performer.run(self._operations.preview(name_call(call, args), options))

    def batch(self, calls: Sequence[Any], **options: Unpack[CallOptions]) -> list[ToolAnswer]:
        """Run calls concurrently; the answers are in the calls' order.

        Raises:
            ApprovalNeeded: A person has to decide about some; `run` goes on with its `turn`.
        """
        turn = Turn("langchain", [], [name_call(call) for call in calls])
        return [ToolAnswer.read(it) for it in self._performer.run(run_turn(turn, self._operations, options)).answers]

    def run(self, response: Any, *, answers_only: bool = False, **options: Unpack[CallOptions]) -> list[Any]:
        """Run the calls in a model's answer, and return the messages to append; none if it calls no tool.

        `response` is an answer of OpenAI (Chat Completions or Responses), Anthropic, Gemini or Ollama, as an object of
        their SDKs or a dict, whole or as the chunks of a stream. The model's message comes first, unless
        `answers_only`. Ids made for calls without one are also written into the response.

        Raises:
            ApprovalNeeded: A person has to decide; afterwards give its `turn` in the place of the response.
        """
        turn = self._performer.run(run_turn(read_turn(response), self._operations, options))
        return turn.replies if turn.calls and answers_only else turn.messages

    def stream(self, call: Any, args: Any = None, **options: Unpack[CallOptions]) -> Iterator[CallEvent]:
        """Run a call, or a list of calls, and yield progress, parts and answers."""
        if isinstance(call, list):
            calls = [name_call(it) for it in call]
            return self._performer.flow(stream_batch(calls, options, self._operations.persistence))
        return self._performer.flow(self._operations.stream(name_call(call, args), options))

    def job(self, call: Any, args: Mapping[str, Any] | None = None, **options: Unpack[CallOptions]) -> "Job":
        """Start a durable call, without waiting for it."""
        state = self._performer.run(self._operations.submit(name_call(call, args), options))
        return Job(state.id, self._operations, self._performer, state)

    def find_job(self, call_id: str) -> "Job":
        """Return a durable call by its id, also one of another program."""
        return Job(call_id, self._operations, self._performer)

    def close(self) -> None:
        """Close the connections."""
        self._performer.client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_details: object) -> None:
        self.close()


class Job:
    """A durable call; `known` is its state when it was sent."""

    def __init__(
        self, call_id: str, operations: Operations, performer: Performer, known: CallState | None = None
    ) -> None:
        self.id = call_id
        self._known = known
        self._operations = operations
        self._performer = performer

    def show(self) -> CallState:
        """Return its state."""
        return self._performer.run(self._operations.show_call(self.id, known=self._known))

    def wait(self, seconds: float | None = None) -> CallState:
        """Return its state once it has ended, or after `seconds`."""
        return self._performer.run(self._operations.wait_for(self.id, seconds, self._known))

    def events(self) -> Iterator[CallEvent]:
        """Yield its events until the answer, reconnecting if necessary."""
        return self._performer.flow(follow_job(self.id, self._operations.persistence, self._known))

    def cancel(self) -> CallState:
        """Cancel the call."""
        return self._performer.run(self._operations.cancel(self.id))


class ApprovalDesk:
    """The calls that wait for a person."""

    def __init__(self, operations: Operations, performer: Performer) -> None:
        self._operations = operations
        self._performer = performer

    def list(self, status: str | None = "pending") -> list[CallApproval]:
        """List approvals, oldest first; with None also decided ones."""
        return self._performer.run(self._operations.list_approvals(status))

    def show(self, approval_id: str) -> CallApproval:
        """Return an approval."""
        return self._performer.run(self._operations.show_approval(approval_id))

    def approve(self, approval_id: str, args: dict[str, Any] | None = None, reason: str | None = None) -> CallApproval:
        """Approve the call, possibly with other arguments, and return it with its answer."""
        return self.decide(approval_id, PersonVerdict("approve", args, reason))

    def reject(self, approval_id: str, reason: str | None = None) -> CallApproval:
        """Reject the call; the model reads the reason."""
        return self.decide(approval_id, PersonVerdict("reject", reason=reason))

    def decide(self, approval_id: str, verdict: PersonVerdict) -> CallApproval:
        """Decide about the call, with a verdict that may hold for all later ones."""
        return self._performer.run(self._operations.decide(approval_id, verdict))
