"""A browser takes the pages of others nowhere, and what is no browser goes on as ever."""

from typing import Any

import pytest

from sidecall import Registry, tool
from sidecall.http.application import Application
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import BOTH_WAYS, Headers, Passing, Peer, exchange, scope_of, sized

OWN = ("host", "127.0.0.1:8000")
REBOUND = ("host", "evil.example:8000")
APP = "https://app.example.com"
CALL = b'{"name": "note", "args": {}, "id": "call_1"}'
PREFLIGHT = [("access-control-request-method", "POST"), ("access-control-request-headers", "content-type,x-user")]
LINK = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")]


def site(value: str, origin: str | None = None) -> list[tuple[str, str]]:
    """Say whence a page comes, as browsers do."""
    return [("sec-fetch-site", value), *([("origin", origin)] if origin else [])]


class Noting:
    """A server with one tool, that notes each of its calls."""

    def __init__(self, is_door_open: bool = True, **settings: Any) -> None:
        self.calls = 0

        @tool
        async def note() -> str:
            """Note that it ran."""
            self.calls += 1
            return "noted"

        self.app: Application = create_app(Settings(**settings), Registry([note]))
        if not is_door_open:
            self.app.add_middleware(Passing)

    async def ask(self, target: str, headers: Headers) -> Peer:
        """Send a request, with a call as its body where it is a POST."""
        method, _, path = target.partition(" ")
        body = CALL if method == "POST" else b""
        return await exchange(self.app, scope_of(method, path, [*headers, *(sized(body) if body else [])]), body)


@BOTH_WAYS
@pytest.mark.parametrize(
    "headers",
    [
        pytest.param([OWN], id="no browser"),
        pytest.param([], id="HTTP/1.0"),
        pytest.param([("host", "localhost:8000")], id="another of its names"),
        pytest.param([OWN, ("sec-fetch-mode", "cors")], id="fetch of Node.js"),
        pytest.param([OWN, *site("same-origin", "http://127.0.0.1:8000")], id="its own page"),
        pytest.param([OWN, *site("none")], id="an extension of the browser"),
        pytest.param([OWN, ("origin", "http://127.0.0.1:8000")], id="its own page in an old browser"),
        pytest.param(
            [("host", "tools.example.com"), ("origin", "https://tools.example.com")], id="its own page behind TLS"
        ),
        pytest.param([OWN, *site("cross-site", APP)], id="a page that is named"),
        pytest.param([OWN, ("origin", APP)], id="a page that is named in an old browser"),
    ],
)
async def test_clients_and_own_pages_run_tools(is_door_open: bool, headers: Headers) -> None:
    """The first time and again."""
    server = Noting(is_door_open, hosts=("tools.example.com",), origins=(APP,))

    answers = [await server.ask("POST /tool_calls", headers) for _ in range(2)]

    assert [answer.status for answer in answers] == [200, 200]
    assert server.calls == 2


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        # Another port of this machine is the same site, which cookies do not tell apart.
        (site("same-site", "http://127.0.0.1:9000"), 403),
        ([("origin", "http://127.0.0.1:9000")], 403),
        ([("origin", "http://localhost:8000")], 403),
        (site("same-site"), 403),
        (site("cross-site", "https://evil.example"), 403),
        (site("cross-site", "null"), 403),
        (site("cross-site"), 403),
        ([("origin", "http://evil.example")], 403),
        ([("origin", "null")], 403),
        ([("origin", "")], 403),
        (site("none", "http://evil.example"), 403),
        ([("origin", f"{APP}.evil.example")], 403),
        ([("origin", f"{APP}:8443")], 403),
        ([("origin", "http://app.example.com")], 403),
        # A form that is sent goes to a page, too.
        ([*site("cross-site", "https://evil.example"), *LINK], 403),
        ([*site("cross-site"), *LINK], 403),
        ([REBOUND], 421),
        ([REBOUND, ("origin", "http://evil.example:8000")], 421),
        ([REBOUND, *site("same-origin", "http://evil.example:8000")], 421),
        ([REBOUND, ("origin", APP)], 421),
        pytest.param(
            [OWN, ("origin", "http://127.0.0.1:8000"), ("origin", "http://evil.example")], 403, id="two origins"
        ),
    ],
)
async def test_pages_of_others_and_rebound_names_run_nothing(headers: list[tuple[str, str]], status: int) -> None:
    """On each route."""
    server = Noting(origins=(APP,))
    headers = headers if REBOUND in headers else [OWN, *headers]

    answers = [
        await server.ask(target, headers)
        for target in ("POST /tool_calls", "POST /tool_calls?format=openai", "POST /tool_calls/batch", "POST /nothing")
    ]

    assert ([answer.status for answer in answers], server.calls) == ([status] * 4, 0)
    assert not any(name.startswith("access-control-") for answer in answers for name, _ in answer.headers)


@pytest.mark.parametrize(
    ("target", "headers", "status"),
    [
        ("GET /tools", [OWN, *site("cross-site"), *LINK], 200),
        ("GET /docs", [OWN, *site("same-site"), *LINK], 200),
        ("GET /tools", [OWN, *site("none"), *LINK], 200),
        ("GET /tools", [OWN, *site("cross-site"), ("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")], 403),
        ("GET /docs", [OWN, *site("cross-site"), ("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")], 403),
        ("GET /tools", [OWN, *site("cross-site", "https://evil.example"), *LINK], 403),
        ("GET /docs", [REBOUND, *LINK], 421),
        ("GET /nothing", [REBOUND], 421),
        ("GET /metrics", [REBOUND], 421),
        ("OPTIONS /tool_calls", [OWN, ("origin", "https://evil.example"), *PREFLIGHT], 403),
        ("GET /healthz", [REBOUND], 200),
        ("GET /readyz", [REBOUND], 503),  # as long as nothing has started it
        ("GET /healthz", [OWN, *site("cross-site", "https://evil.example")], 200),
    ],
)
async def test_links_may_lead_here_and_probes_may_come_from_anywhere(
    target: str, headers: Headers, status: int
) -> None:
    """A page that a person goes to may be reached by a link; nothing else of others."""
    assert (await Noting(origins=(APP,)).ask(target, headers)).status == status


@pytest.mark.parametrize(
    ("headers", "detail"),
    [
        (
            [REBOUND],
            b'"This server is not known as evil.example:8000. If it is one of its names, add it to SIDECALL_HOSTS."',
        ),
        (
            [OWN, ("origin", "https://evil.example")],
            b'"A web page of https://evil.example may not use this server. '
            b'If it should, add its origin to SIDECALL_ORIGINS."',
        ),
        (
            [OWN, *site("cross-site")],
            b'"A web page of another site may not use this server. If it should, add its origin to SIDECALL_ORIGINS."',
        ),
        ([("host", "\x9b" + "a" * 1000)], b"\"This server is not known as '\\\\x9b" + b"a" * 99 + b"'."),
    ],
)
async def test_a_refusal_says_what_to_set(headers: Headers, detail: bytes) -> None:
    """To the operator who reads it in the log of an agent or in a browser."""
    answer = await Noting().ask("GET /tools", headers)

    assert b'"detail":' + detail in answer.content
    assert ("content-type", "application/problem+json") in answer.headers
    assert "x-request-id" in dict(answer.headers)


async def test_a_browser_hears_that_a_named_page_may_ask() -> None:
    """What it asks in advance is answered for any header, and for gateways that know people by cookies."""
    answer = await Noting(origins=(APP,)).ask("OPTIONS /tool_calls", [OWN, ("origin", APP), *PREFLIGHT])

    found = dict(answer.headers)
    assert answer.status == 200
    assert found["access-control-allow-origin"] == APP
    assert found["access-control-allow-credentials"] == "true"
    assert found["access-control-allow-headers"] == "content-type,x-user"
    assert "POST" in found["access-control-allow-methods"]
    assert "x-request-id" in found


@BOTH_WAYS
@pytest.mark.parametrize(
    ("target", "status"), [("POST /tool_calls", 200), ("GET /tools", 200), ("GET /nothing", 404), ("POST /tools", 405)]
)
async def test_a_named_page_may_read_every_answer(is_door_open: bool, target: str, status: int) -> None:
    """Problems too, and the headers that say more; for its origin only."""
    answer = await Noting(is_door_open, origins=(APP,)).ask(target, [OWN, *site("cross-site", APP)])

    found = dict(answer.headers)
    assert (answer.status, found["access-control-allow-origin"]) == (status, APP)
    assert "Origin" in found["vary"]
    said = {"ETag", "Location", "Preference-Applied", "Retry-After", "X-Request-Id", "X-Sidecall-Approvals"}
    assert said <= set(found["access-control-expose-headers"].split(", "))
    assert [name for name, _ in answer.headers].count("x-request-id") == 1


async def test_a_page_that_is_not_named_twice_is_not_remembered() -> None:
    """What one may do, another may not; nor does a name that was let in once let in others."""
    server = Noting(hosts=("*.example.com",))
    flood = [[("host", f"h{number}.example.com")] for number in range(1100)]

    assert {(await server.ask("GET /nothing", headers)).status for headers in flood} == {404}
    assert (await server.ask("POST /tool_calls", [OWN])).status == 200
    assert (await server.ask("POST /tool_calls", [REBOUND])).status == 421
    assert (await server.ask("POST /tool_calls", [("host", "h1.example.com"), ("origin", APP)])).status == 403


async def test_explorer_lets_nobody_frame_it() -> None:
    """Else a page of others could lay it under the mouse."""
    answer = await Noting().ask("GET /docs", [OWN])

    assert "frame-ancestors 'none'" in dict(answer.headers)["content-security-policy"]
