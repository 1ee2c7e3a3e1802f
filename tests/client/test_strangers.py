"""What is no answer of a Sidecall server is said at once, by the exception for whom can mend it; for both clients."""

import asyncio
import json
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest

from sidecall.client import (
    AsyncSidecall,
    NotAuthenticated,
    RequestRefused,
    RequestUnfit,
    ServerBusy,
    ServerFailed,
    ServerUnreachable,
    Sidecall,
    UnknownAnswer,
)
from tests.client.twins import Twin

Answer = Callable[[httpx.Request], httpx.Response]
CHAT = {
    "choices": [
        {"message": {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "d", "arguments": "{}"}}]}}
    ]
}
CALL = {"type": "tool_call", "name": "double", "args": {}, "id": "a"}
MESSAGE = {"content": "8", "tool_call_id": "a", "name": "double", "status": "success"}
WAYS: list[tuple[str, tuple[Any, ...]]] = [
    ("tools", ()),
    ("tools", ("anthropic",)),
    ("tool", ("double",)),
    ("show_tools", ()),
    ("call", ("double",)),
    ("batch", (["double"],)),
    ("run", (CHAT,)),
    ("stream", ("double",)),
    ("stream", ([CALL],)),
    ("preview", ("double",)),
    ("job", ("double",)),
    ("approvals.list", ()),
    ("approvals.show", ("a",)),
    ("approvals.approve", ("a",)),
]


@pytest.fixture(params=["blocking", "asynchronous"])
def kind(request: pytest.FixtureRequest) -> str:
    """Which of the clients."""
    return str(request.param)


def make(kind: str, *answers: httpx.Response | Answer, **options: Any) -> Twin:
    """Make a client whose requests have these answers one after the other, the last again and again."""
    left = list(answers)

    def answer(request: httpx.Request) -> httpx.Response:
        found = left.pop(0) if len(left) > 1 else left[0]
        if callable(found):
            return found(request)
        return httpx.Response(found.status_code, headers=found.headers, content=found.content)

    client = Sidecall if kind == "blocking" else AsyncSidecall
    return Twin(client("http://sidecall/at", transport=httpx.MockTransport(answer), **options))


async def fail(twin: Twin, way: str, args: tuple[Any, ...]) -> Exception:
    """Ask, and return what is raised."""
    with pytest.raises(Exception) as raised:
        await twin.ask(way, *args)
    return raised.value


def write_events(*events: tuple[str, Any]) -> httpx.Response:
    """Write an answer that comes as events, and then ends."""
    text = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in events)
    return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, text=text)


@pytest.mark.parametrize(("way", "args"), WAYS, ids=str)
@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (httpx.Response(200, html="<title>Welcome</title>"), "<title>Welcome</title>"),
        (httpx.Response(200, json={"status": "ok"}), '{"status":"ok"}'),
        (httpx.Response(200, json=[1, "two"]), '[1,"two"]'),
        (httpx.Response(200, json=[{"uid": 1}]), '[{"uid":1}]'),
        (httpx.Response(200, text="null"), "null"),
        (httpx.Response(200, text=""), "it is empty"),
        (httpx.Response(200, text='{"content": "8'), '{"content": "8'),
        (httpx.Response(200, content=b"\xff\xfe", headers={"Content-Type": "text/plain"}), "\ufffd\ufffd"),
        (httpx.Response(200, text="x" * 1000), "x" * 200),
    ],
    ids=["page", "object", "list", "objects", "null", "empty", "half", "bytes", "much"],
)
async def test_an_answer_of_something_else_is_shown(
    kind: str, way: str, args: tuple[Any, ...], answer: httpx.Response, shown: str
) -> None:
    """With its first letters."""
    error = await fail(make(kind, answer), way, args)

    assert type(error) is UnknownAnswer
    assert str(error).endswith(f": {shown}")


@pytest.mark.parametrize(("way", "args"), WAYS, ids=str)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_names_the_address(kind: str, way: str, args: tuple[Any, ...], status: int) -> None:
    """Without what was asked for there."""
    twin = make(
        kind,
        lambda request: httpx.Response(
            status, headers={"Location": str(request.url.copy_with(scheme="https", host="tools.test"))}
        ),
    )

    error = await fail(twin, way, args)

    assert isinstance(error, RequestUnfit)
    assert (error.status, error.detail) == (status, "the server is at https://tools.test/at: give that address")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("/below/tool_calls?format=langchain", "the server is at http://sidecall/below: give that address"),
        ("https://login.test/?next=1", "the server is at https://login.test/?next=1: give that address"),
        (None, "the server answers that it is elsewhere, and not where"),
    ],
)
async def test_other_places(kind: str, place: str | None, said: str) -> None:
    """Relative ones, foreign ones, and none."""
    answer = httpx.Response(302, headers={} if place is None else {"Location": place})

    error = await fail(make(kind, answer), "call", ("double",))

    assert isinstance(error, RequestRefused)
    assert error.detail == said


@pytest.mark.parametrize("events", [[], [("progress", {"tool_call_id": "a", "done": 1})]])
async def test_events_that_end_without_an_answer_are_a_lost_connection(kind: str, events: list[Any]) -> None:
    """Though they end as they should."""
    for args in ("double", [CALL]):
        with pytest.raises(ServerUnreachable):
            await make(kind, write_events(*events)).ask("stream", args)
    with pytest.raises(ServerUnreachable, match="1 of 2"):
        await make(kind, write_events(*events, ("message", MESSAGE))).ask("stream", [CALL, {**CALL, "id": "b"}])


@pytest.mark.parametrize(
    "text", ["event: message\ndata: hello\n\n", 'event: message\ndata: {"id": 1}\n\n', "data: [1]\n\n"]
)
async def test_events_of_another_service_are_unknown(kind: str, text: str) -> None:
    """No matter what they hold."""
    answer = httpx.Response(200, headers={"Content-Type": "text/event-stream"}, text=text)

    with pytest.raises(UnknownAnswer):
        await make(kind, answer).ask("stream", "double")


@pytest.mark.parametrize(
    ("name", "data", "error_type", "detail"),
    [
        ("error", {"message": "no healthy upstream"}, ServerBusy, '{"message": "no healthy upstream"}'),
        (
            "error",
            {"status": "failed", "retry_after": "soon"},
            ServerBusy,
            '{"status": "failed", "retry_after": "soon"}',
        ),
        ("problem", {"status": 500, "detail": "in words"}, ServerFailed, "in words"),
    ],
)
async def test_what_another_service_tells_as_an_event_is_shown(
    kind: str, name: str, data: Any, error_type: type[RequestRefused], detail: str
) -> None:
    """And never an exception of another kind."""
    error = await fail(make(kind, write_events((name, data)), retries=0), "stream", ("double",))

    assert type(error) is error_type
    assert isinstance(error, RequestRefused)
    assert (error.detail, error.retry_after) == (detail, None)


@pytest.mark.parametrize("client", [Sidecall, AsyncSidecall])
async def test_the_time_of_a_call_bounds_a_server_that_says_nothing(client: Any) -> None:
    """No matter how it is asked for, and with a key too, by which it would be sent again."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        twin = Twin(client(f"http://127.0.0.1:{silent.getsockname()[1]}"))
        ways: list[tuple[str, Any, dict[str, Any]]] = [
            ("call", "double", {}),
            ("call", "double", {"key": "k"}),
            ("batch", ["double"], {}),
            ("run", CHAT, {}),
            ("stream", "double", {}),
            ("stream", [CALL], {}),
            ("job", "double", {}),
        ]
        asked = [twin.ask(way, what, timeout=0.01, **options) for way, what, options in ways]
        errors = await asyncio.gather(*asked, return_exceptions=True)

    assert [(type(error), str(error)) for error in errors] == [
        (ServerUnreachable, "no answer came within 0.01 seconds")
    ] * len(ways)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"message": "no healthy upstream"}, '{"message":"no healthy upstream"}'),
        ({"error": {"message": "quota"}}, '{"error":{"message":"quota"}}'),
        ({"errors": "many", "title": "Bad"}, '{"errors":"many","title":"Bad"}'),
        ({"detail": [{"msg": "wrong"}]}, '{"detail":[{"msg":"wrong"}]}'),
        ({"detail": "in words"}, "in words"),
        ({"type": "urn:sidecall:problem:overloaded", "title": "No room."}, "No room."),
        (["a"], '["a"]'),
    ],
)
@pytest.mark.parametrize(("status", "error_type"), [(500, ServerFailed), (401, NotAuthenticated), (418, RequestUnfit)])
async def test_the_words_of_a_proxy_are_kept(
    kind: str, body: Any, detail: str, status: int, error_type: type[RequestRefused]
) -> None:
    """In any form."""
    error = await fail(make(kind, httpx.Response(status, json=body)), "call", ("double",))

    assert type(error) is error_type
    assert isinstance(error, RequestRefused)
    assert (error.detail, isinstance(error.errors, list)) == (detail, True)
    assert str(error).endswith(detail)
    assert " :" not in str(error)


def _in_seconds(seconds: int) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


@pytest.mark.parametrize(
    ("said", "least", "most"),
    [
        ("90", 90, 90),
        (_in_seconds(3600), 1, 3600),
        (_in_seconds(-90), 0, 0),
        ("soon", None, None),
        ("-5", None, None),
        ("1.5", None, None),
        ("Tomorrow", None, None),
        ("5 apples", None, None),
    ],
)
async def test_when_to_come_again_may_be_a_date(kind: str, said: str, least: float | None, most: float | None) -> None:
    """Or a number of seconds; all else says nothing."""
    answer = httpx.Response(503, json={"type": "urn:sidecall:problem:overloaded"}, headers={"Retry-After": said})

    error = await fail(make(kind, answer, retries=0), "call", ("double",))

    assert isinstance(error, ServerBusy)
    assert error.retry_after == least if least is None or most is None else least <= error.retry_after <= most


async def test_a_date_that_is_past_is_no_wait(kind: str) -> None:
    """And the call is sent again."""
    busy = httpx.Response(
        503, json={"type": "urn:sidecall:problem:overloaded"}, headers={"Retry-After": _in_seconds(-5)}
    )

    answer = await make(kind, busy, httpx.Response(200, json=MESSAGE)).ask("call", "double")

    assert answer.content == "8"


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8000",
        "localhost:8000",
        "tools",
        "htp://tools",
        "ftp://tools",
        "http://",
        "http://tools:99999",
        "http://tools:0",
        "http://tools: 8000",
        "http://my tools:8000",
        "http://127.0.0.256:8000",
        "http://tools|tools",
        "http://http://tools:8000",
        "http://tools:8000:9000",
        "//tools:8000",
        "http://tools/?key=1",
        "http://tools/#tools",
        "file:///tools",
    ],
)
def test_what_is_no_address_is_said_at_once(kind: str, url: str) -> None:
    """And never taken for a server that is not there."""
    with pytest.raises(ValueError, match=r"such as|leave out"):
        (Sidecall if kind == "blocking" else AsyncSidecall)(url)


@pytest.mark.parametrize("bad", ["key\n", "a\r\nb", "schlüssel", "日本", "a\x00b"])
async def test_what_no_header_can_hold_is_said_at_once(kind: str, bad: str) -> None:
    """As a key, as a token, as what a function gives, and as a header."""
    client = Sidecall if kind == "blocking" else AsyncSidecall
    for options in ({"api_key": bad}, {"token": bad}, {"headers": {"X-User": bad}}, {"headers": {bad: "a"}}):
        with pytest.raises(ValueError, match=r"line breaks|no name"):
            client("http://tools", **options)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="a token is a text"):
        await make(kind, httpx.Response(200, json=MESSAGE), token=lambda: bad).ask("call", "double")


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("http://tools", {"api_key": "a", "token": "b"}),
        ("http://tools", {"api_key": "a", "headers": {"authorization": "Bearer b"}}),
        ("http://tools", {"token": "a", "headers": {"Authorization": "Bearer b"}}),
        ("http://ann:secret@tools", {"api_key": "a"}),
    ],
)
def test_two_credentials_are_one_too_many(kind: str, url: str, options: Any) -> None:
    """Else one of them would win in silence."""
    with pytest.raises(ValueError, match="not both"):
        (Sidecall if kind == "blocking" else AsyncSidecall)(url, **options)


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({"api_key": "a"}, "Bearer a"),
        ({"token": "a"}, "Bearer a"),
        ({"token": lambda: "a"}, "Bearer a"),
        ({"token": "a", "api_key": None}, "Bearer a"),
        ({"headers": {"authorization": "Basic b"}}, "Basic b"),
        ({}, "Bearer of the environment"),
    ],
)
async def test_one_credential_goes_with_each_request(
    kind: str, options: Any, sent: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the program says goes before the environment."""
    monkeypatch.setenv("SIDECALL_API_KEY", "of the environment\n")
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["Authorization"])
        return httpx.Response(200, json=MESSAGE)

    await make(kind, answer, **options).ask("call", "double")

    assert seen == [sent]
