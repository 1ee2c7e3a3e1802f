"""Each option of a client has its effect."""

from typing import Any

import httpx
import pytest

from sidecall.client import AsyncSidecall, ServerUnreachable
from sidecall.client.connection import arrange, make_operations, prepare_request
from sidecall.client.options import CallOptions
from sidecall.client.steps import Sending
from tests.client.conftest import OpenTwin
from tests.client.desk import double, refund
from tests.kit.calls import write_call


def write(options: Any, sending: Sending, url: str | None = None) -> httpx.Request:
    """Write a request as a client with these options sends it."""
    with httpx.Client(**arrange(url, options)) as client:
        return prepare_request(client, sending)


def test_a_client_goes_where_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its address and headers."""
    get = Sending("GET", "/tools", [("tag", "a"), ("tag", "b")])

    assert str(write({}, get).url) == "http://127.0.0.1:8000/tools?tag=a&tag=b"
    monkeypatch.setenv("SIDECALL_URL", "http://tools:1")
    request = write({"headers": {"X-User": "ada"}}, get)
    assert (request.url.host, request.headers["X-User"]) == ("tools", "ada")
    assert request.headers["User-Agent"].startswith("sidecall-client/")
    assert write({}, get, "http://other:2").url.host == "other"
    # A link to a next page has its query already.
    assert str(write({}, Sending("GET", "/approvals?cursor=x")).url).endswith("/approvals?cursor=x")


@pytest.mark.parametrize(
    ("timeout", "patience", "expected"), [(5.0, None, 5.0), (5.0, 30.0, 40.0), (600.0, 30.0, 600.0), (None, 30.0, None)]
)
def test_silence_is_borne_as_long_as_the_server_has_time(
    timeout: Any, patience: float | None, expected: float | None
) -> None:
    """Else a client would hang up on an answer that it has asked for."""
    request = write({"timeout": timeout}, Sending("GET", "/tools", patience=patience))

    assert request.extensions["timeout"]["read"] == expected


@pytest.mark.parametrize(
    ("usual", "limit", "expected"), [(5.0, 30.0, (30.0, 10.0)), (600.0, 3.0, (3.0, 3.0)), (None, 30.0, (30.0, 10.0))]
)
def test_the_time_of_a_call_comes_before_that_of_all(usual: Any, limit: float, expected: tuple[float, float]) -> None:
    """For its answer; a connection has no more time than any other."""
    timeout = write({"timeout": usual}, Sending("POST", "/tool_calls", limit=limit)).extensions["timeout"]

    assert (timeout["read"], timeout["connect"]) == expected


def test_each_call_may_have_a_key_of_its_own() -> None:
    """Then it may be sent again."""
    plain, keyed = make_operations({}), make_operations({"makes_keys": True, "retries": 1, "longest_wait": 3.0})
    requests = [it.call_request(write_call("double"), CallOptions()) for it in (plain, keyed, keyed)]
    keys = [request.headers.get("Idempotency-Key") for request in requests]

    assert [request.is_safe for request in requests] == [False, True, True]
    assert (keys[0], len(set(keys))) == (None, 3)
    assert (keyed.persistence.retries, keyed.persistence.longest) == (1, 3.0)


@pytest.mark.parametrize(
    ("method", "call", "option"),
    [
        ("batch", [write_call("double")], {"key": "k"}),
        ("run", {"role": "assistant", "content": ""}, {"key": "k"}),
        ("stream", "double", {"ask": print}),
        ("preview", "double", {"timeout": 1}),
        ("job", "double", {"approval_wait": 1}),
        ("call", "double", {"stat": {}}),
    ],
)
async def test_an_option_that_would_do_nothing_is_refused(
    open_twin: OpenTwin, method: str, call: Any, option: Any
) -> None:
    """Before anything is sent."""
    twin = await open_twin(double)

    with pytest.raises(TypeError, match=next(iter(option))):
        await twin.ask(method, call, **option)


async def test_a_preview_runs_nothing(open_twin: OpenTwin) -> None:
    """It says what a call would do."""
    twin = await open_twin(refund)

    planned = await twin.ask("preview", "refund", {"order": "7"})

    assert (planned["would_run"], planned["requires_approval"]) == (True, True)
    assert (planned["args"], await twin.ask("approvals.list")) == ({"order": 7, "amount": 100}, [])


async def test_nobody_there_is_said_so() -> None:
    """By a client that may be closed by `async with`."""
    async with AsyncSidecall("http://127.0.0.1:9", retries=0) as client:
        with pytest.raises(ServerUnreachable, match="GET /tools"):
            await client.tools()
