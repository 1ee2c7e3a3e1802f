"""The short way in front of the framework answers exactly as the framework's way does."""

import logging
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.types import ASGIApp

from sidecall.http.application import Application
from sidecall.http.fast_path import FastPath, RequestWatch
from sidecall.http.origin_policy import OriginPolicy, OwnHosts, PageRule
from sidecall.http.problems import refuse
from sidecall.http.request_counts import RequestTally
from sidecall.http.request_id import RequestId
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stage import Place, Stage, Stages
from sidecall.kernel.ports.approvals.approval import Approval
from sidecall.rest.app import build_api
from sidecall.rest.shortcuts import make_shortcuts
from tests.kit.asgi import JSON, Passing, Peer, exchange, scope_of, sized
from tests.rest.over_a_wire import Server, is_sound
from tests.rest.two_ways import DOORS, FORMS, HOSTILE, ORDINARY, STREAMS, Sent, ask, comparable, make_app

CALL = b'{"name": "echo", "args": {"text": "hello"}, "id": "call_1"}'


@pytest.fixture(scope="module")
def in_front() -> Application:
    """Give a server as it is."""
    return make_app(is_door_open=True)


@pytest.fixture(scope="module")
def behind() -> Application:
    """Give one whose door is closed."""
    return make_app(is_door_open=False)


@pytest.mark.parametrize(
    "sent", [pytest.param(sent, id=name) for name, sent in (ORDINARY | HOSTILE | FORMS | DOORS | STREAMS).items()]
)
async def test_both_ways_answer_alike(in_front: Application, behind: Application, sent: Sent) -> None:
    """The first time, and when the answer is remembered."""
    first = [comparable(await ask(app, sent)) for app in (in_front, behind)]
    second = [comparable(await ask(app, sent)) for app in (in_front, behind)]

    assert first[0] == first[1]
    assert second[0] == second[1]


@pytest.mark.parametrize(
    ("sent", "pieces"),
    [
        *(pytest.param(sent, 1, id=name) for name, sent in (ORDINARY | HOSTILE | DOORS).items() if is_sound(sent)),
        *(pytest.param(sent, 3, id=f"{name}, in pieces") for name, sent in ORDINARY.items() if is_sound(sent)),
    ],
)
async def test_our_own_server_answers_alike(in_front: Application, sent: Sent, pieces: int) -> None:
    """It takes plain requests whole and sends their answers whole, past the messages of ASGI."""
    answers = [comparable(await ask(in_front, sent)), comparable(await Server(in_front).ask(sent, pieces=pieces))]

    assert answers[0] == answers[1]


async def test_both_ways_know_what_a_client_has_already(in_front: Application, behind: Application) -> None:
    """304, with the same headers and nothing else."""
    tag = dict((await ask(behind, ORDINARY["a listing"])).headers)["etag"]
    sent: Sent = ("GET", "/tools", [("if-none-match", f'"other", W/{tag}')], b"")

    answers = [comparable(await ask(app, sent)) for app in (in_front, behind, in_front)]

    assert answers[0] == answers[1] == answers[2]
    assert (answers[0]["status"], answers[0]["names"]) == (
        304,
        ["cache-control", "etag", "x-content-type-options", "x-request-id"],
    )


async def test_a_client_keeps_its_request_id_on_both_ways(in_front: Application, behind: Application) -> None:
    """In the header, and in a problem."""
    sent: Sent = ("POST", "/tool_calls", sized(b"{", ("x-request-id", "mine-1")), b"{")

    answers = [await ask(app, sent) for app in (in_front, behind)]

    assert [dict(answer.headers)["x-request-id"] for answer in answers] == ["mine-1", "mine-1"]
    assert [b'"instance":"mine-1"' in answer.content for answer in answers] == [True, True]


async def test_what_waits_for_a_person_is_kept_the_same(in_front: Application, behind: Application) -> None:
    """The person sees the call, and nothing that came beside it."""
    sent = ORDINARY["a call that waits for a person"]

    answers = [Approval.model_validate_json((await ask(app, sent)).content) for app in (in_front, behind)]
    calls = [answer.tool_call.model_dump() for answer in answers]

    assert calls == [{"name": "delete", "args": {"order": 7}, "id": "call_1", "type": "tool_call"}] * 2


PLAIN: list[Any] = [
    pytest.param("POST", "/tool_calls", sized(CALL), True, id="a call"),
    pytest.param("POST", "/tool_calls", sized(CALL, ("accept", "application/json")), True, id="a call that says more"),
    pytest.param("POST", "/tool_calls", sized(CALL, ("accept", "text/event-stream")), True, id="one for events"),
    pytest.param(
        "POST",
        "/tool_calls",
        sized(CALL, ("accept", "text/event-stream"), ("prefer", "wait=5")),
        False,
        id="one for events that is remembered",
    ),
    pytest.param(
        "POST",
        "/tool_calls",
        sized(CALL, ("accept", "application/json, text/event-stream;q=0.5")),
        False,
        id="one for events at need",
    ),
    pytest.param("POST", "/tool_calls?format=openai", sized(CALL), False, id="one with a query"),
    pytest.param("PUT", "/tool_calls", sized(CALL), False, id="another method"),
    pytest.param("POST", "/tool_calls/batch?format=openai", sized(CALL), False, id="a batch with a query"),
    pytest.param("POST", "/tool_calls", [JSON], False, id="without a length"),
    pytest.param("POST", "/tool_calls", [JSON, ("content-length", "x")], False, id="with a length that is none"),
    pytest.param("POST", "/tool_calls", [JSON, ("content-length", "9" * 18)], False, id="with a length of 18 digits"),
    pytest.param("POST", "/tool_calls", [JSON, ("content-length", "300001")], False, id="too large"),
    pytest.param("POST", "/tool_calls", [("content-length", "59")], False, id="without a type"),
    pytest.param(
        "POST",
        "/tool_calls",
        [("content-length", "59"), ("content-type", "application/json; charset=utf-8")],
        False,
        id="with a type that says more",
    ),
    pytest.param("GET", "/tools", [], True, id="a listing"),
    pytest.param("GET", "/tools?format=gemini", [], False, id="one that was not asked for before"),
    pytest.param("POST", "/tools", [], False, id="a listing by another method"),
    pytest.param("GET", "/tools/echo", [], True, id="one tool"),
    pytest.param("GET", "/tools/report", [], False, id="one that was not asked for before"),
    pytest.param("GET", "/tools/echo?a=1", [], False, id="one tool with a query"),
    pytest.param("GET", "/", [], False, id="anything else"),
]


@pytest.mark.parametrize(("method", "target", "headers", "is_plain"), PLAIN)
async def test_the_plain_form_is_served_in_front(
    in_front: Application, method: str, target: str, headers: list[tuple[str, str]], is_plain: bool
) -> None:
    """And nothing else."""
    await ask(in_front, ORDINARY["a listing"])
    await ask(in_front, ("GET", "/tools/echo", [], b""))
    passed_on: list[Any] = []

    async def framework(scope: Any, _receive: Any, _send: Any) -> None:
        passed_on.append(scope["path"])

    peer = Peer([CALL])
    door = FastPath(framework, RequestWatch(RequestTally({})), make_shortcuts(in_front.state.parts))
    rule = PageRule(door, OriginPolicy(OwnHosts("localhost")), lambda app: app, refuse, lambda _: False)
    await RequestId(rule)(scope_of(method, target, headers), peer.receive, peer.send)

    assert passed_on == ([] if is_plain else [target.partition("?")[0]])
    assert [message.get("status") for message in peer.sent[:1]] == ([200] if is_plain else [])


async def test_a_body_may_come_in_parts(in_front: Application) -> None:
    """As a network tears it."""
    peer = await exchange(in_front, scope_of("POST", "/tool_calls", sized(CALL)), CALL[:9], b"", CALL[9:20], CALL[20:])

    assert (peer.status, b'"content":"hello"' in peer.content) == (200, True)


async def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_defect(
    in_front: Application, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is run, nobody is answered, nothing is logged."""
    sent: list[Any] = []
    messages = [{"type": "http.request", "body": CALL[:9], "more_body": True}, {"type": "http.disconnect"}]

    async def receive() -> Any:
        return messages.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    await in_front(scope_of("POST", "/tool_calls", sized(CALL)), receive, send)

    assert (sent, messages, caplog.messages) == ([], [], [])


async def _crash(_: Any) -> None:
    raise RuntimeError("password=hunter2")


def _crashing(app: Application) -> Application:
    """Build a server on the same parts whose pipeline has a defect."""
    parts = app.state.parts
    broken = Pipeline(parts.registry, Stages((Stage(Place.EXECUTE, _crash),)))
    values = {name: getattr(parts, name) for name in parts.__dataclass_fields__}
    return build_api(type(parts)(**{**values, "pipeline": broken}))


async def test_a_defect_is_answered_alike_and_shown_to_the_server(
    in_front: Application, behind: Application, caplog: pytest.LogCaptureFixture
) -> None:
    """500 as problem+json without the reason, one line in the log, and the server hears of it."""
    closed = _crashing(behind)
    closed.add_middleware(Passing)
    peers = [Peer([CALL]), Peer([CALL])]
    scope = scope_of("POST", "/tool_calls", sized(CALL, ("x-request-id", "mine-1")))

    with caplog.at_level(logging.ERROR, "sidecall"):
        with pytest.raises(RuntimeError, match="hunter2"):
            await _crashing(in_front)({**scope, "state": {}}, peers[0].receive, peers[0].send)
        with pytest.raises(RuntimeError, match="hunter2"):
            await closed({**scope, "state": {}}, peers[1].receive, peers[1].send)

    assert comparable(peers[0]) == comparable(peers[1])
    assert (peers[0].status, b"hunter2" in peers[0].content) == (500, False)
    assert caplog.messages == ["request mine-1 failed: POST /tool_calls"] * 2


async def test_an_application_mounted_in_another_is_served_by_the_framework() -> None:
    """Which knows what of the path is its own."""
    outer = FastAPI()
    outer.mount("/sidecall", make_app(is_door_open=True))

    peer = await exchange(outer, scope_of("GET", "/sidecall/tools"), b"")
    other = await exchange(outer, scope_of("GET", "/tools"), b"")

    assert (peer.status, other.status) == (200, 404)


class Signing:
    """Say in each answer that it came by here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request."""

        async def signed(message: Any) -> None:
            message.get("headers", []).append((b"x-signed", b"yes"))
            await send(message)

        await self._app(scope, receive, signed)


@pytest.mark.parametrize("name", ["a listing", "a call of langchain"])
async def test_middleware_of_others_sees_every_request(name: str) -> None:
    """It may ask who is calling, for instance."""
    app = make_app(is_door_open=True)
    app.add_middleware(Signing)

    answers = [await ask(app, ORDINARY[name]) for _ in range(2)]

    assert [dict(answer.headers).get("x-signed") for answer in answers] == ["yes", "yes"]


async def test_what_is_no_request_goes_to_the_framework(in_front: Application) -> None:
    """A WebSocket is refused, and nobody looks for its method."""
    peer = Peer()
    scope = {**scope_of("GET", "/tools"), "type": "websocket", "subprotocols": []}
    del scope["method"]

    await in_front(scope, peer.receive, peer.send)

    assert [message["type"] for message in peer.sent] == ["websocket.close"]
