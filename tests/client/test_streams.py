"""What happens to a call is given as it happens, with types."""

from typing import Any

import httpx
import pytest

from sidecall.client import (
    CallApproval,
    MissedEvents,
    PartialAnswer,
    Progress,
    RequestUnfit,
    ServerBusy,
    StatusChange,
    ToolAnswer,
)
from sidecall.client.retries import Persistence
from sidecall.client.steps import Giving, Pausing, Sending, Taking, Walk
from sidecall.client.streams import EventLines, follow_call, stream_call
from tests.client.conftest import OpenTwin
from tests.client.desk import double, recall, refund, write
from tests.kit.calls import write_call


async def test_progress_and_parts_come_before_the_answer(open_twin: OpenTwin) -> None:
    """Each with its call's id."""
    twin = await open_twin(write)

    first, *parts, answer = await twin.ask("stream", write_call("write", text="a b"))

    assert first == Progress("call_1", 1, 2, "begun")
    assert parts == [PartialAnswer("call_1", "a"), PartialAnswer("call_1", "b")]
    assert (answer.content, answer.status) == ("ab", "success")


async def test_the_calls_of_a_batch_come_as_they_are_ready(open_twin: OpenTwin) -> None:
    """One that waits for a person says so."""
    twin = await open_twin(double, refund)

    events = await twin.ask("stream", [write_call("double", number=4), write_call("refund", id="call_2", order=7)])

    assert {type(event).__name__ for event in events} == {"ToolAnswer", "CallApproval"}
    assert [event.tool_call["id"] for event in events if isinstance(event, CallApproval)] == ["call_2"]


async def test_what_is_wrong_with_a_stream_is_an_exception(open_twin: OpenTwin) -> None:
    """Before it begins."""
    twin = await open_twin(recall)

    with pytest.raises(RequestUnfit, match="missing-context"):
        await twin.ask("stream", "recall", {"key": "a"})


class _Opened:
    """A stream that brings these lines."""

    def __init__(self, *lines: Any, status: int = 200) -> None:
        self.response = httpx.Response(status)
        self.lines = list(lines)


def play(steps: Any, *streams: _Opened) -> tuple[list[Any], list[Sending]]:
    """Let steps open these streams one after the other; return what they give, and what they have sent."""
    given, sent, left = [], [], list(streams)
    walk = Walk(steps)
    while not walk.has_ended:
        match walk.step:
            case Sending():
                sent.append(walk.step)
                walk.go_on(left.pop(0))
            case Taking(stream):
                line = stream.lines.pop(0) if stream.lines else None
                walk.fail(line) if isinstance(line, Exception) else walk.go_on(line)
            case Giving(event):
                given.append(event)
                walk.go_on()
            case Pausing():
                walk.go_on()
    return given, sent


RUNNING = ("id: 7", "event: status", 'data: {"status": "running", "attempt": 1}', "")
ANSWERED = ("id: 999", "event: message", 'data: {"content": "8", "tool_call_id": "a", "name": "double"}', "")


def test_what_was_missed_is_given_with_its_count() -> None:
    """As any other event."""
    missed = ("event: missed", 'data: {"tool_call_id": "a", "count": 3}', "")

    given, _ = play(stream_call({"name": "double", "args": {}}, {}, Persistence()), _Opened(*missed, *ANSWERED))

    assert given[0] == MissedEvents("a", 3)


def test_a_remembered_call_is_followed_over_lost_connections() -> None:
    """From where the last one ended."""
    streams = [
        _Opened(*RUNNING, ": still working", "", "event: prog", httpx.ReadError("lost")),
        _Opened(),
        _Opened(*ANSWERED),
    ]

    given, sent = play(follow_call("an id", Persistence()), *streams)

    assert [type(event).__name__ for event in given] == ["StatusChange", "ToolAnswer"]
    assert given[0] == StatusChange("running", 1)
    assert [request.headers.get("Last-Event-ID") for request in sent] == [None, "7", "7"]
    assert sent[0].path == "/tool_calls/an%20id/events"


def test_a_server_that_ends_says_so_in_its_last_event() -> None:
    """The program reads which call to send again."""
    ending = 'data: {"type": "urn:sidecall:problem:shutting-down", "status": 503, "unanswered": ["a"]}'

    with pytest.raises(ServerBusy, match="shutting-down") as ended:
        play(stream_call({}, {}, Persistence()), _Opened("event: error", ending, ""))

    assert ended.value.document["unanswered"] == ["a"]


def test_events_of_newer_servers_are_passed_over() -> None:
    """And data may have several lines."""
    lines = EventLines()

    assert [lines.feed(line) for line in ("event: later", "data: {", "data: }")] == [None] * 3
    assert lines.feed("") == ("later", {})
    answer = ("event: message", 'data: {"content": "8", "tool_call_id": "a", "name": "double"}', "")
    given, _ = play(stream_call({}, {}, Persistence()), _Opened("event: later", "data: {}", "", *answer))
    assert given == [ToolAnswer("8", "a", "double")]
