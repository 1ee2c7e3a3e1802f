"""A caller that makes more calls than it may is told so, and everybody what is left, on both ways."""

from typing import Annotated, Any

import httpx
import pytest

from sidecall import InjectedToolArg, ToolException, tool
from sidecall.http.answer_headers import quota_headers
from sidecall.kernel.core.quota import Quota
from tests.kit.asgi import BOTH_WAYS
from tests.kit.clients import MakeClient
from tests.kit.events import EVENTS, events_in
from tests.kit.tools import echo


@tool(requires_approval=True)
async def risky() -> str:
    """Wait for a person."""
    return "done"


@tool
async def greet(tenant: Annotated[str, InjectedToolArg]) -> str:
    """Say who asks."""
    return tenant


@tool(handle_tool_error=None)
async def fail() -> None:
    """Fail, and let the calling program know."""
    raise ToolException("No.")


def _call(name: str = "echo", text: str = "hi") -> dict[str, Any]:
    return {"name": name, "args": {"text": text}, "id": "call_1"}


def _left(response: httpx.Response) -> tuple[str | None, str | None]:
    return response.headers.get("RateLimit-Policy"), response.headers.get("RateLimit")


def test_the_headers_are_those_of_the_draft() -> None:
    """Two structured fields; none where nothing is counted."""
    said = quota_headers([Quota(most=100, seconds=60, left=99, more_in=1)])

    assert said == {"RateLimit-Policy": '"calls";q=100;w=60', "RateLimit": '"calls";r=99;t=1'}
    assert quota_headers([]) == {}


@BOTH_WAYS
async def test_answers_say_what_is_left(make_client: MakeClient) -> None:
    """After the call that they answer."""
    client = await make_client(echo, rate_limit="2/hour")

    answers = [await client.post("/tool_calls", json=_call()) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert [_left(answer) for answer in answers] == [
        ('"calls";q=2;w=3600', '"calls";r=1;t=1800'),
        ('"calls";q=2;w=3600', '"calls";r=0;t=1800'),
    ]


@BOTH_WAYS
async def test_a_call_too_many_is_a_problem(make_client: MakeClient) -> None:
    """429, with the seconds after which the next one may come."""
    client = await make_client(echo, rate_limit="1/hour")
    await client.post("/tool_calls", json=_call())

    refused = await client.post("/tool_calls", json=_call(), headers={"X-Request-Id": "mine-1"})

    assert (refused.status_code, refused.headers["Content-Type"]) == (429, "application/problem+json")
    assert refused.headers["Retry-After"] == "3600"
    assert _left(refused) == ('"calls";q=1;w=3600', '"calls";r=0;t=3600')
    assert refused.json() == {
        "type": "urn:sidecall:problem:quota-exceeded",
        "title": "You have made as many calls as one caller may in this time.",
        "status": 429,
        "detail": "Calls that one caller may make in 3600 s: 1. The next one may come in 3600 s.",
        "retryable": True,
        "retry_after": 3600,
        "violated-policies": ["calls"],
        "instance": "mine-1",
    }


@BOTH_WAYS
@pytest.mark.parametrize(
    ("name", "status"),
    [("nope", 200), ("risky", 202), ("greet", 422), ("fail", 500)],
    ids=["unknown", "approval", "missing context", "failed"],
)
async def test_whatever_a_call_comes_to_it_is_counted(make_client: MakeClient, name: str, status: int) -> None:
    """And its answer says what is left."""
    client = await make_client(echo, risky, greet, fail, rate_limit="1/hour")

    answers = [await client.post("/tool_calls", json=_call(name)) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [status, 429]
    assert [_left(answer)[1] for answer in answers] == ['"calls";r=0;t=3600'] * 2


@BOTH_WAYS
@pytest.mark.parametrize(
    ("content", "status"), [(b"{", 400), (b"[]", 422), (b'{"nope": 1}', 422)], ids=["not JSON", "array", "no call"]
)
async def test_what_is_no_call_is_not_counted(make_client: MakeClient, content: bytes, status: int) -> None:
    """It says nothing of calls that are left, either."""
    client = await make_client(echo, rate_limit="1/hour")

    wrong = await client.post("/tool_calls", content=content, headers={"Content-Type": "application/json"})
    right = await client.post("/tool_calls", json=_call())

    assert (wrong.status_code, right.status_code) == (status, 200)
    assert _left(wrong) == (None, None)


@BOTH_WAYS
async def test_without_a_rate_nothing_is_said(make_client: MakeClient) -> None:
    """Nor is anybody refused."""
    client = await make_client(echo)

    answers = [await client.post("/tool_calls", json=_call()) for _ in range(5)]

    assert [(answer.status_code, *_left(answer)) for answer in answers] == [(200, None, None)] * 5


@BOTH_WAYS
async def test_listings_are_not_calls(make_client: MakeClient) -> None:
    """Nor are approvals and probes."""
    client = await make_client(echo, rate_limit="1/hour")
    await client.post("/tool_calls", json=_call())

    answers = [await client.get(path) for path in ("/tools", "/tools", "/tools/echo", "/approvals", "/readyz")]

    assert [(answer.status_code, *_left(answer)) for answer in answers] == [(200, None, None)] * 5


async def test_a_batch_counts_as_its_calls(make_client: MakeClient) -> None:
    """Those over are answered in their places."""
    client = await make_client(echo, rate_limit="3/hour")

    response = await client.post("/tool_calls/batch", json=[_call(text=text) for text in "abcde"])
    kinds = [answer["response_metadata"].get("error", {}).get("kind") for answer in response.json()]

    assert (response.status_code, _left(response)) == (200, ('"calls";q=3;w=3600', '"calls";r=0;t=1200'))
    assert [answer["content"] for answer in response.json()[:3]] == ["a", "b", "c"]
    assert kinds == [None, None, None, "overloaded", "overloaded"]


async def test_a_dry_run_is_counted(make_client: MakeClient) -> None:
    """What costs the server as much as a call is one, and its answer says what is left."""
    client = await make_client(echo, greet, rate_limit="2/hour")
    tried = [("?dry_run=true", "echo"), ("?dry_run=true", "greet"), ("?dry_run=true", "echo"), ("", "echo")]

    answers = [await client.post(f"/tool_calls{query}", json=_call(name)) for query, name in tried]

    assert [answer.status_code for answer in answers] == [200, 422, 429, 429]
    assert [_left(answer)[1] for answer in answers] == ['"calls";r=1;t=1800', *['"calls";r=0;t=1800'] * 3]


async def test_dry_runs_of_a_batch_are_counted(make_client: MakeClient) -> None:
    """As its calls would be; those over are told so in their places."""
    client = await make_client(echo, rate_limit="2/hour")

    response = await client.post("/tool_calls/batch?dry_run=true", json=[_call(text=text) for text in "abc"])
    said = [(answer["would_run"], answer["args"]) for answer in response.json()]

    assert (response.status_code, _left(response)) == (200, ('"calls";q=2;w=3600', '"calls";r=0;t=1800'))
    assert said == [(True, {"text": "a"}), (True, {"text": "b"}), (False, None)]
    assert response.json()[2]["message"]["response_metadata"]["error"]["kind"] == "overloaded"


async def test_a_stream_too_many_is_a_problem_before_it_begins(make_client: MakeClient) -> None:
    """With a status and headers that clients know; the headers of one that begins are those before its call."""
    client = await make_client(echo, rate_limit="1/hour")

    first = await client.post("/tool_calls", json=_call(), headers=EVENTS)
    refused = await client.post("/tool_calls", json=_call(), headers=EVENTS)

    assert (first.status_code, [name for name, _ in events_in(first.text)]) == (200, ["message"])
    assert _left(first) == ('"calls";q=1;w=3600', '"calls";r=1;t=0')
    assert (refused.status_code, refused.headers["Content-Type"]) == (429, "application/problem+json")
    assert (refused.headers["Retry-After"], _left(refused)[1]) == ("3600", '"calls";r=0;t=3600')


async def test_a_batch_of_events_counts_as_its_calls(make_client: MakeClient) -> None:
    """Those over are answered in their places there, too."""
    client = await make_client(echo, rate_limit="1/hour")

    response = await client.post("/tool_calls/batch", json=[_call(text=text) for text in "ab"], headers=EVENTS)
    said = sorted(event["content"] for _, event in events_in(response.text))

    assert said == ["Calls that one caller may make in 3600 s: 1. The next one may come in 3600 s.", "a"]


async def test_refused_calls_are_in_the_numbers(make_client: MakeClient) -> None:
    """By their tool."""
    client = await make_client(echo, rate_limit="1/hour")

    answers = [await client.post("/tool_calls", json=_call(), headers=headers) for headers in ({}, {}, EVENTS)]
    numbers = (await client.get("/metrics")).text

    assert [answer.status_code for answer in answers] == [200, 429, 429]
    assert 'sidecall_calls_total{outcome="overloaded",tool="echo"} 2.0' in numbers


async def test_an_approval_costs_nothing(make_client: MakeClient) -> None:
    """Its call was counted when it came."""
    client = await make_client(risky, rate_limit="1/hour")
    waiting = await client.post("/tool_calls", json={"name": "risky", "args": {}})

    decided = await client.post(waiting.headers["Location"], json={"decision": "approve"})

    assert (waiting.status_code, decided.status_code, decided.json()["message"]["content"]) == (202, 200, "done")
    assert _left(decided) == (None, None)
