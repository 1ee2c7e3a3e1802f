"""Server-sent events as steps: a running call, several concurrent ones, and a durable call until its end."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import quote

import httpx

from sidecall.client.accumulator import make_plain, write_body
from sidecall.client.answers import (
    CallApproval,
    CallEvent,
    CallState,
    PartialAnswer,
    Progress,
    StatusChange,
    ToolAnswer,
    read_event,
)
from sidecall.client.durable_calls import comes_as_events, is_approval, is_message, make_unknown
from sidecall.client.failures import ServerUnreachable, UnknownAnswer, read_told_refusal
from sidecall.client.options import OF_MANY, OF_STREAMS, CallOptions, HearProgress, beside, limit_time, require_options
from sidecall.client.retries import Persistence, send
from sidecall.client.steps import Asking, Giving, Pausing, Sending, Steps, Taking, Walk

_EVENTS = {"Accept": "text/event-stream"}
_HEADERS = {**_EVENTS, "Content-Type": "application/json"}


@dataclass
class EventLines:
    """Parses events from lines, by the HTML standard; `last_id` is where to resume."""

    last_id: str = ""
    name: str = ""
    texts: list[str] = field(default_factory=list)

    def feed(self, line: str) -> tuple[str, Any] | None:
        """Add a line; return the event that it completes, or None."""
        if line:
            key, _, value = line.partition(":")
            self._keep(key, value.removeprefix(" "))
            return None
        name, texts = self.name, self.texts
        self.name, self.texts = "", []
        return (name, _read_data("\n".join(texts))) if texts else None

    def _keep(self, key: str, value: str) -> None:
        if key == "data":
            self.texts.append(value)
        elif key == "event":
            self.name = value
        elif key == "id":
            self.last_id = value


def _read_data(text: str) -> Mapping[str, Any]:
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, Mapping):
        raise UnknownAnswer(f"the data of an event are none of a Sidecall server: {text[:200]}")
    return data


def stream_call(
    call: Mapping[str, Any],
    options: CallOptions,
    persistence: Persistence,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Steps[None]:
    """Run a call, and yield its events until the answer; `headers` are added to the request's."""
    require_options(options, OF_STREAMS, "the stream of a call")
    body = write_body({**make_plain(call), **beside(options)})
    counts = yield from _stream("/tool_calls", body, options, persistence, headers)
    _require_answers(counts["message"] + counts["approval"], 1)


def pass_progress(events: Steps[None], listener: HearProgress) -> Steps[ToolAnswer | CallApproval]:
    """Pass progress and parts to a function of the program; return the answer, or the approval."""
    walk = Walk(events)
    last: Any = None
    while not walk.has_ended:
        if not isinstance(walk.step, Giving):
            try:
                done = yield walk.step
            except httpx.TransportError as error:
                walk.fail(error)
            else:
                walk.go_on(done)
            continue
        event = walk.step.event
        if isinstance(event, Progress | PartialAnswer):
            yield Asking(listener, event)
        elif isinstance(event, ToolAnswer | CallApproval):
            last = event
        walk.go_on()
    return cast("ToolAnswer | CallApproval", last)


def stream_batch(calls: Sequence[Any], options: CallOptions, persistence: Persistence) -> Steps[None]:
    """Run calls concurrently, and yield each answer as soon as it is ready."""
    require_options(options, OF_MANY, "a stream")
    body = write_body({"calls": [make_plain(call) for call in calls], **beside(options)})
    counts = yield from _stream("/tool_calls/batch", body, options, persistence)
    # One that waits for a person has an answer, too.
    _require_answers(counts["message"], len(calls))


def _require_answers(count: int, wanted: int) -> None:
    if count < wanted:
        raise ServerUnreachable(f"the events end, and {wanted - count} of {wanted} calls have no answer")


def _stream(
    path: str,
    body: bytes,
    options: CallOptions,
    persistence: Persistence,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Steps[Counter[str]]:
    params, whole = [("format", "langchain"), *limit_time(options)], {**_HEADERS, **headers}
    request = Sending("POST", path, params, whole, body, is_stream=True, limit=options.get("timeout"))
    opened = yield from send(request, persistence)
    return (yield from _give_events(opened, EventLines()))


def follow_job(call_id: str, persistence: Persistence, known: CallState | None) -> Steps[None]:
    """Yield the events of a call that was sent as a job until its answer, which may be known already."""
    if known is None or not known.has_ended:
        yield from follow_call(call_id, persistence)
        return
    yield Giving(StatusChange(known.status, None, known.kind, known.approval_id))
    if known.answer is not None:
        yield Giving(known.answer)


def follow_call(call_id: str, persistence: Persistence) -> Steps[None]:
    """Yield the events of a durable call until its answer, reconnecting if necessary."""
    lines, failures = EventLines(), 0
    path, params = f"/tool_calls/{quote(call_id, safe='')}/events", [("format", "langchain")]
    while True:
        headers = {**_EVENTS, **({"Last-Event-ID": lines.last_id} if lines.last_id else {})}
        opened = yield from send(Sending("GET", path, params, headers, is_safe=True, is_stream=True), persistence)
        before = lines.last_id
        if opened.response.status_code == httpx.codes.NO_CONTENT or (yield from _follow(opened, lines)):
            return
        failures = failures + 1 if lines.last_id == before else 0
        delay = persistence.delay(failures, None)
        if delay is None:
            raise ServerUnreachable(f"GET {path}: the events end again and again before the call does")
        yield Pausing(delay)


def _follow(opened: Any, lines: EventLines) -> Steps[bool]:
    """Yield events, and return whether the last one was received."""
    try:
        return (yield from _give_events(opened, lines))["message"] > 0
    except ServerUnreachable:
        lines.name, lines.texts = "", []
        return False


def _give_events(opened: Any, lines: EventLines) -> Steps[Counter[str]]:
    """Yield events, and return how many there were of each name."""
    if not comes_as_events(opened.response):
        raise make_unknown(opened.response)
    counts: Counter[str] = Counter()
    while (line := (yield from _take(opened))) is not None:
        event = lines.feed(line)
        if event is None:
            continue
        name, document = event
        if name in ("problem", "error"):
            raise read_told_refusal(document)
        counts[name] += 1
        if (known := _read_known(name, document)) is not None:
            yield Giving(known)
    return counts


def _read_known(name: str, document: Mapping[str, Any]) -> CallEvent | None:
    fits = {"message": is_message, "approval": is_approval}.get(name)
    try:
        if fits is None or fits(document):
            return read_event(name, document)
    except TypeError:  # It lacks something.
        pass
    raise UnknownAnswer(f"an event {name} is none of a Sidecall server: {json.dumps(document)[:200]}")


def _take(opened: Any) -> Steps[str | None]:
    try:
        line: str | None = yield Taking(opened)
    except httpx.TransportError as lost:
        raise ServerUnreachable(f"the events end: {lost or type(lost).__name__}") from lost
    return line
