"""Tavily's answers become short texts with the whole answer beside them, and its failures advice."""

import asyncio
import email.utils
import json
import logging
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import httpx
import pytest
import respx

from sidecall import ToolMessage
from tests.kit.calls import run
from tests.tools import shipped

TavilySearch = type(tavily_search := shipped.load("tavily").tavily_search)
KEY = "tvly-dev-0123456789"
PAGE = {"title": "Héron", "url": "https://a.example", "content": "A bird", "score": 0.9, "raw_content": None}
FOUND = {"query": "héron", "answer": "A bird.", "images": [], "results": [PAGE], "response_time": 1.2}
SHOWN = '[{"title":"Héron","url":"https://a.example","content":"A bird","score":0.9}]'
NOT_A_KEY = "TAVILY_API_KEY is not a key: it holds blanks or characters outside ASCII."
NO_KEY = "Web search is not set up: the operator of this server has to set the environment variable TAVILY_API_KEY."
NOT_JSON = "Tavily's answer is not JSON. Try again later."
NO_OBJECT = "Tavily's answer has an unexpected form: it is not an object. Check TAVILY_API_BASE_URL."
NO_LIST = "Tavily's answer has an unexpected form: `results` is not a list of objects. Check TAVILY_API_BASE_URL."
NOT_REACHED = "Tavily cannot be reached. Try again later; the operator should check the server's network."
KEY_REFUSED = "Tavily refused the API key (HTTP 401). Check TAVILY_API_KEY."

reply = httpx.Response
DEFAULTS = {"search_depth": "basic", "topic": "general", "include_images": False}
EVERY_ARGUMENT = {
    "include_domains": ["a.example"],
    "exclude_domains": ["c.example"],
    "search_depth": "ultra-fast",
    "include_images": True,
    "time_range": "week",
    "topic": "news",
    "start_date": "2026-01-02",
    "end_date": "2026-02-03",
}
EVERY_SETTING = {
    "max_results": 3,
    "include_answer": "advanced",
    "include_raw_content": "text",
    "include_image_descriptions": True,
    "include_favicon": True,
    "country": "france",
    "exact_match": True,
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a key, no address, and no proxy for the server on this host."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("TAVILY_API_KEY", KEY)
    monkeypatch.delenv("TAVILY_API_BASE_URL", raising=False)


@pytest.fixture(name="api")
def mock_api() -> Iterator[respx.Route]:
    """Stand in for Tavily; it finds a page unless a test says otherwise."""
    with respx.mock:
        yield respx.post("https://api.tavily.com/search").respond(json=FOUND)


def said(status: int, detail: Any = None) -> httpx.Response:
    """Make an answer in the form of Tavily's errors."""
    return reply(status, json={"detail": detail})


async def search(tool: TavilySearch = tavily_search, **args: Any) -> ToolMessage:
    """Call the tool as a model does."""
    return await run(tool, {"query": "héron", **args})


async def test_the_model_reads_what_matters_and_the_program_gets_all(api: respx.Route) -> None:
    """Content is compact JSON of four fields per page, the artifact the API's whole answer."""
    message = await search()

    assert message.content == SHOWN
    assert message.artifact == FOUND
    assert message.status == "success"


@pytest.mark.parametrize(
    ("settings", "args", "sent"),
    [
        ({}, {}, DEFAULTS),
        ({}, EVERY_ARGUMENT, EVERY_ARGUMENT),
        (EVERY_SETTING, {}, DEFAULTS | EVERY_SETTING),
        # The API refuses a country beside another topic, and the model could not help that.
        ({"country": "france"}, {"topic": "finance"}, DEFAULTS | {"topic": "finance"}),
        # The API chooses only what is not sent, defaults included.
        ({"auto_parameters": True}, {}, {"include_images": False, "auto_parameters": True}),
        ({"auto_parameters": True}, EVERY_ARGUMENT, {**EVERY_ARGUMENT, "auto_parameters": True}),
    ],
)
async def test_the_arguments_and_the_settings_are_sent(
    api: respx.Route, settings: dict[str, Any], args: dict[str, Any], sent: dict[str, Any]
) -> None:
    """The names are the API's own, what was not said is left out, and the key goes into a header."""
    await search(TavilySearch(**settings), **args)

    request = api.calls.last.request
    assert json.loads(request.content) == {"query": "héron", **sent}
    assert request.headers["Authorization"] == "Bearer tvly-dev-0123456789"
    assert request.headers["X-Client-Source"] == "sidecall"


async def test_settings_are_not_for_the_model(api: respx.Route) -> None:
    """An argument of a setting's name is dropped and reported."""
    message = await search(max_results=20, api_base_url="https://evil.example")

    assert message.response_metadata["ignored_args"] == ["max_results", "api_base_url"]
    assert b"max_results" not in api.calls.last.request.content


@pytest.mark.parametrize(
    ("settings", "base"),
    [
        ({"api_base_url": "https://proxy.example/tavily/"}, "https://other.example"),
        ({}, "https://proxy.example/tavily"),
    ],
)
@respx.mock
async def test_the_address_can_be_set(monkeypatch: pytest.MonkeyPatch, settings: dict[str, str], base: str) -> None:
    """By the constructor first, then by the environment."""
    monkeypatch.setenv("TAVILY_API_BASE_URL", base)
    route = respx.post("https://proxy.example/tavily/search").respond(json=FOUND)

    await search(TavilySearch(**settings))

    assert route.call_count == 1


@pytest.mark.parametrize(("key", "content"), [(" \n", NO_KEY), ("tvly one", NOT_A_KEY), ("tvly-\u00e9", NOT_A_KEY)])
async def test_a_call_without_a_key_says_so(monkeypatch: pytest.MonkeyPatch, key: str, content: str) -> None:
    """The server runs without it, and nothing is sent."""
    monkeypatch.setenv("TAVILY_API_KEY", key)

    message = await search()

    assert message.content == content
    assert message.status == "error"
    assert message.response_metadata["error"]["kind"] == "tool_error"


async def test_a_key_set_later_is_used(monkeypatch: pytest.MonkeyPatch, api: respx.Route) -> None:
    """It is read at each call."""
    monkeypatch.delenv("TAVILY_API_KEY")
    missing = await search()
    monkeypatch.setenv("TAVILY_API_KEY", "tvly-later\n")

    message = await search()

    assert missing.content == NO_KEY
    assert message.status == "success"
    assert api.calls.last.request.headers["Authorization"] == "Bearer tvly-later"


@pytest.mark.parametrize(
    ("failure", "content", "retryable"),
    [
        (said(401, {"error": f"Not a key: {KEY}"}), KEY_REFUSED, False),
        (said(403), "Tavily refused the API key (HTTP 403). Check TAVILY_API_KEY.", False),
        (said(400, {"error": "Bad."}), "Tavily refused the search (HTTP 400): Bad.", False),
        (said(400, {"error": KEY}), "Tavily refused the search (HTTP 400): [TAVILY_API_KEY]", False),
        (said(422, [{"msg": "a"}, {"msg": "b"}, 1]), "Tavily refused the search (HTTP 422): a; b", False),
        (said(404, "Not Found"), "Tavily refused the search (HTTP 404): Not Found", False),
        (said(400, "x" * 999), "Tavily refused the search (HTTP 400): " + "x" * 300, False),
        (said(400, {}), "Tavily refused the search (HTTP 400): it gave no reason.", False),
        (reply(400, json=[]), "Tavily refused the search (HTTP 400): it gave no reason.", False),
        (said(302), "Tavily refused the search (HTTP 302): it gave no reason.", False),  # redirects are not followed
        (said(429), "Tavily's rate limit is exceeded. Try again later.", True),
        (said(432), "The plan's limit at Tavily is used up (HTTP 432). Raise it there.", False),
        (said(433), "The pay-as-you-go limit at Tavily is used up (HTTP 433). Raise it there.", False),
        (said(500), "Tavily failed (HTTP 500). Try again later.", True),
        (reply(200, json=[]), NO_OBJECT, False),
        (reply(200, json={}), NO_LIST, False),
        (reply(200, json={"results": ["a"]}), NO_LIST, False),
        (reply(200, text="<html>"), NOT_JSON, True),  # a proxy's page
        (reply(200, text="[" * 100_000), NOT_JSON, True),
        (httpx.ReadTimeout("slow"), "Tavily did not answer within 20 seconds. Try again later.", True),
        (httpx.ConnectError("down"), NOT_REACHED, True),
        (httpx.UnsupportedProtocol("ftp"), "The address of Tavily is not a URL. Check TAVILY_API_BASE_URL.", False),
    ],
)
async def test_a_failure_says_what_to_do(api: respx.Route, failure: Any, content: str, retryable: bool) -> None:
    """The status is an error, and never is the key repeated."""
    api.mock(side_effect=[failure])

    message = await search()

    assert message.content == content
    assert message.status == "error"
    assert message.artifact is None
    assert message.response_metadata["error"]["kind"] == "tool_error"
    assert message.response_metadata["error"]["retryable"] is retryable


@pytest.mark.parametrize(
    ("value", "content", "wait"),
    [
        ("120", "Tavily's rate limit is exceeded. Try again in 120 seconds.", 120_000),
        ("Wed, 01 Jan 2020 00:00:00 GMT", "Tavily's rate limit is exceeded. Try again in 0 seconds.", 0),  # is past
        ("soon", "Tavily's rate limit is exceeded. Try again later.", None),
        ("9" * 5000, "Tavily's rate limit is exceeded. Try again later.", None),  # Python would not read it
    ],
)
async def test_a_rate_limit_says_when_to_retry(api: respx.Route, value: str, content: str, wait: int | None) -> None:
    """Retry-After holds seconds or a date."""
    api.respond(429, headers={"Retry-After": value})

    message = await search()

    assert message.content == content
    assert message.response_metadata["error"]["retry_after_ms"] == wait


async def test_a_date_to_come_back_at_is_counted_from_now(api: respx.Route) -> None:
    """Servers that are down for a while say until when."""
    api.respond(503, headers={"Retry-After": email.utils.formatdate(time.time() + 3600, usegmt=True)})

    message = await search()

    assert message.content == "Tavily failed (HTTP 503). Try again later."
    assert 3_500_000 < message.response_metadata["error"]["retry_after_ms"] <= 3_600_000


@pytest.mark.parametrize(
    ("args", "suggestions"),
    [
        ({"search_depth": "advanced"}, "use other words"),
        ({}, 'use the search_depth "advanced", use other words'),
        (
            EVERY_ARGUMENT,
            "remove time_range, remove start_date, remove end_date, remove include_domains, remove exclude_domains, "
            'use the topic "general", use the search_depth "advanced", use other words',
        ),
    ],
)
async def test_no_results_come_with_suggestions(api: respx.Route, args: dict[str, Any], suggestions: str) -> None:
    """What was set is what can be loosened."""
    api.respond(json={"results": []})

    message = await search(**args)

    assert message.content == f"No search results found for 'héron'. Suggestions: {suggestions}."
    assert message.status == "error"


async def test_the_key_is_not_passed_on(api: respx.Route, caplog: pytest.LogCaptureFixture) -> None:
    """Not even when the API repeats it; what is not JSON is mended on the way."""
    caplog.set_level(logging.DEBUG)
    api.respond(text=f'{{"results": [{{"title": "{KEY}", "score": NaN}}]}}')

    message = await search()

    assert message.content == '[{"title":"[TAVILY_API_KEY]","url":null,"content":null,"score":null}]'
    assert KEY not in message.model_dump_json()
    assert KEY not in caplog.text


class Tavily(BaseHTTPRequestHandler):
    """Answer on a real socket, and remember the connections."""

    protocol_version = "HTTP/1.1"
    connections: ClassVar[set[Any]] = set()

    def do_POST(self) -> None:
        """Find a page."""
        self.connections.add(self.client_address)
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps(FOUND).encode()
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))


async def search_twice(tool: TavilySearch) -> list[str]:
    """Make two calls, one after the other."""
    return [(await search(tool)).status, (await search(tool)).status]


def test_connections_are_shared_by_the_calls_of_one_event_loop_and_end_with_it() -> None:
    """What stays open would be a ResourceWarning, which is an error here."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Tavily) as server:
        threading.Thread(target=server.serve_forever).start()
        tool = TavilySearch(api_base_url=f"http://127.0.0.1:{server.server_port}")

        statuses = asyncio.run(search_twice(tool)) + asyncio.run(search_twice(tool))
        server.shutdown()

    assert statuses == ["success", "success", "success", "success"]
    assert len(Tavily.connections) == 2
