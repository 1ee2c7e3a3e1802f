"""Large answers count until they are written, hold nobody up, and fit into their batch."""

import asyncio
import json
import time
from typing import Any

import pytest
from pydantic_core import to_json

from sidecall import Registry, ToolException, tool
from sidecall.http.backlog import Backlog
from sidecall.kernel.core.messages import ToolMessage
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import Peer, scope_of, sized
from tests.kit.calls import write_call
from tests.kit.clients import MakeClient
from tests.kit.events import events_in
from tests.rest.forms import FORMS

NUMBERS = list(range(1_000_000))
EVENTS = {"Accept": "text/event-stream"}


@tool(response_format="content_and_artifact")
async def attach(size: int) -> tuple[str, str]:
    """Return an artifact of so many characters."""
    return "see the artifact", "x" * size


@tool
async def write(size: int) -> str:
    """Return a text."""
    return "x" * size


def _kinds(answers: list[dict[str, Any]]) -> list[str | None]:
    return [answer["response_metadata"].get("error", {}).get("kind") for answer in answers]


@pytest.mark.parametrize(
    ("name", "sizes", "kinds"),
    [
        pytest.param("attach", [60_000, 60_000], [None, None], id="small artifacts"),
        pytest.param("attach", [90_000, 90_000], [None, None], id="large ones that fit"),
        pytest.param("attach", [90_000, 90_000, 90_000], [None, None, "output_error"], id="one more"),
        pytest.param("attach", [150_000, 90_000, 90_000], [None, None, "output_error"], id="one after others that fit"),
        pytest.param("attach", [300_000, 90_000], ["output_error", None], id="one that never fits"),
        pytest.param("write", [150_000, 150_000, 10], [None, "output_error", None], id="contents"),
    ],
)
async def test_the_answers_of_a_batch_are_bounded_together(
    make_client: MakeClient, name: str, sizes: list[int], kinds: list[str | None]
) -> None:
    """What is over is answered as one that alone is too large; single calls and events are not concerned."""
    client = await make_client(attach, write, max_result_bytes=250_000)
    calls = [write_call(name, id=str(index), size=size) for index, size in enumerate(sizes)]

    together = (await client.post("/tool_calls/batch", json=calls)).json()
    events = events_in((await client.post("/tool_calls/batch", json=calls, headers=EVENTS)).text)
    apart = [(await client.post("/tool_calls", json=call)).json() for call in calls]

    assert _kinds(together) == kinds
    assert sorted(_kinds([message for _, message in events]), key=str) == sorted(_kinds(apart), key=str)
    assert _kinds(apart) == ["output_error" if size > 250_000 else None for size in sizes]


async def test_an_error_says_how_much_a_batch_may_answer(make_client: MakeClient) -> None:
    """The model may ask for less."""
    client = await make_client(attach, max_result_bytes=250_000)
    calls = [write_call("attach", id=str(index), size=200_000) for index in range(2)]

    answers = (await client.post("/tool_calls/batch", json=calls)).json()

    assert answers[1]["content"] == (
        "Error: attach returned a result with which its batch has answers of 400,036 bytes as JSON; at most 250,000 are"
        " passed on."
    )


async def test_an_error_for_which_its_batch_has_no_room_is_cut(make_client: MakeClient) -> None:
    """It stays the error that it is."""

    @tool
    async def fail() -> str:
        """Fail at length."""
        raise ToolException("x" * 150_000)

    client = await make_client(fail, max_result_bytes=250_000)
    calls = [write_call("fail", id=str(index)) for index in range(3)]

    answers = (await client.post("/tool_calls/batch", json=calls)).json()

    assert [len(answer["content"]) for answer in answers] == [150_000, 996, 996]
    assert _kinds(answers) == ["tool_error"] * 3


# All that JSON escapes, what some escape, and what has no form of its own in UTF-8.
AWKWARD = "".join(map(chr, range(0x100))) + "\u2028\u2029\ud83d\ude00\ud800" + chr(0x1F600)


@tool
async def repeat(times: int) -> str:
    """Return a text of all that is awkward."""
    return AWKWARD * times


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("times", [1, 4_500, 11_000], ids=["short", "long", "too long for the loop"])
async def test_texts_of_every_length_are_written_alike(make_client: MakeClient, form: str, times: int) -> None:
    """On the loop and in threads."""
    client = await make_client(repeat, max_content_bytes=64_000_000)

    answer = await client.post("/tool_calls", json=FORMS[form]("repeat", {"times": times}))

    assert to_json(AWKWARD.encode("utf-8", "replace").decode() * times) in answer.content


@pytest.mark.parametrize("path", ["/tool_calls", "/tool_calls/batch"])
@pytest.mark.parametrize("headers", [{}, EVENTS], ids=["at once", "as events"])
async def test_nothing_counts_once_it_is_answered(path: str, headers: dict[str, str]) -> None:
    """However it was asked for."""
    app = create_app(Settings(), Registry([attach]), backlog=Backlog())
    call = write_call("attach", size=500_000)
    body = json.dumps([call] if path.endswith("batch") else call).encode()
    peer = Peer([body])

    await app(scope_of("POST", path, sized(body, *headers.items())), peer.receive, peer.send)
    results = app.state.parts.pipeline.results

    assert len(peer.content) > 500_000
    assert (results.used, results.shares, results.large) == (0, {}, {"attach": 500_018})


async def test_a_large_event_is_written_off_the_loop() -> None:
    """Others would wait for it."""

    @tool
    async def count() -> Any:
        """Count, without a step that takes long on the event loop."""
        return "counted"

    app = create_app(Settings(), Registry([count]))
    pipeline = app.state.parts.pipeline
    message = ToolMessage("counted", tool_call_id="call_1", artifact=NUMBERS)
    began = time.thread_time()
    to_json(message)
    slow = time.thread_time() - began

    async def answer(_asked: Any, _tool: Any = None) -> ToolMessage:
        await asyncio.sleep(0)
        return message

    pipeline.begin = pipeline.answer = answer
    body = json.dumps(write_call("count")).encode()
    peer = Peer([body])
    began = time.thread_time()
    await app(scope_of("POST", "/tool_calls", sized(body, *EVENTS.items())), peer.receive, peer.send)
    spent = time.thread_time() - began

    assert len(peer.content) > 6_000_000
    assert spent < slow
