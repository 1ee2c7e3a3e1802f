"""What `GET /tools` answers is remembered, until the registry changes."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from sidecall import Caller, Registry, tool
from sidecall.http.fast_path import Reply
from sidecall.main import create_app
from sidecall.rest.listings import Listing, Listings, has, make_listing
from sidecall.settings import Settings
from tests.kit.clients import MakeClient


@tool
async def first() -> None:
    """Come first."""


@tool
async def second() -> None:
    """Come second."""


@tool(is_enabled=lambda _: True)
async def sometimes() -> None:
    """Be there for some."""


@tool(is_enabled=False)
async def never() -> None:
    """Be there for nobody."""


@pytest.fixture
def registry() -> Registry:
    """Offer one tool."""
    return Registry([first])


@pytest.fixture
async def client(registry: Registry) -> AsyncIterator[httpx.AsyncClient]:
    """Ask a server that offers it."""
    transport = httpx.ASGITransport(app=create_app(Settings(), registry))
    async with httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client:
        yield client


async def _names(client: httpx.AsyncClient, target: str = "/tools") -> list[str]:
    return [offered["function"]["name"] for offered in (await client.get(target)).json()]


def test_a_listing_has_an_etag_of_its_bytes() -> None:
    """Strong, and short."""
    listing = make_listing(b"[]")

    etag = '"4f53cda18c2baa0c0354bb5f9a3ecbe5"'
    headers = {"ETag": etag, "Cache-Control": "no-cache"}
    assert listing == Listing(etag, Reply(b"[]", 200, headers), Reply(b"", 304, headers))


@pytest.mark.parametrize(("if_none_match", "status"), [(None, 200), ('"nope"', 200), ("*", 304)])
def test_a_client_that_has_the_listing_is_not_sent_it_again(if_none_match: str | None, status: int) -> None:
    """304, and nothing else."""
    assert make_listing(b"[]").reply_to(if_none_match).status == status


def test_what_is_kept_is_found_by_its_query(registry: Registry) -> None:
    """And by no other."""
    listings = Listings(registry)
    listing = make_listing(b"[1]")

    listings.keep(b"format=mcp", listing, 1)

    assert listings.find(b"format=mcp") is listing
    assert [listings.find(query) for query in (b"", b"format=mcp&", b"FORMAT=mcp")] == [None, None, None]


def test_no_more_than_64_queries_are_remembered(registry: Registry) -> None:
    """Nobody fills the memory with queries of their own; the oldest go."""
    listings = Listings(registry)
    listing = make_listing(b"[]")

    [listings.keep(b"x=%d" % number, listing, 1) for number in range(100)]
    kept = [number for number in range(100) if listings.find(b"x=%d" % number) is not None]

    assert kept == list(range(36, 100))


def test_a_query_that_is_remembered_already_takes_no_other_place(registry: Registry) -> None:
    """Two requests for the same may be answered at once."""
    listings = Listings(registry)
    [listings.keep(b"x=%d" % number, make_listing(b"[]"), 1) for number in range(64)]

    [listings.keep(b"x=%d" % number, make_listing(b"[1]"), 1) for number in range(64)]

    assert [listings.find(b"x=%d" % number) for number in (0, 63)] == [make_listing(b"[1]")] * 2


async def test_made_up_queries_keep_no_real_one_from_being_remembered(registry: Registry) -> None:
    """It is answered by the short way from its second time on, as if nobody had asked for anything else."""
    app = create_app(Settings(), registry)
    listings = app.state.parts.listings.pages

    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://sidecall") as client:
        [await client.get(f"/tools?x={number}") for number in range(80)]
        before = listings.find(b"")
        answer = await client.get("/tools")

    assert (before, listings.find(b"").whole.body) == (None, answer.content)


def test_there_is_room_again_when_the_registry_has_changed(registry: Registry) -> None:
    """For as many."""
    listings = Listings(registry)
    [listings.keep(b"x=%d" % number, make_listing(b"[]"), registry.version) for number in range(100)]
    registry.add(second)

    missing = listings.find(b"x=1")
    [listings.keep(b"y=%d" % number, make_listing(b"[]"), registry.version) for number in range(100)]

    assert missing is None
    assert len([number for number in range(100) if listings.find(b"y=%d" % number) is not None]) == 64


def test_what_is_of_another_version_is_not_remembered(registry: Registry) -> None:
    """Neither before the change was noticed nor after."""
    listings = Listings(registry)
    version = registry.version
    registry.add(second)
    listings.keep(b"", make_listing(b"[]"), version)
    unnoticed = listings.find(b"")
    listings.keep(b"", make_listing(b"[]"), version)

    assert (unnoticed, listings.find(b"")) == (None, None)


@pytest.mark.parametrize(
    ("tools", "is_kept"),
    [
        pytest.param([first, second], True, id="for everybody"),
        pytest.param([first, never], True, id="for everybody, or nobody"),
        pytest.param([first, sometimes], False, id="for some"),
        pytest.param([], True, id="nothing"),
    ],
)
def test_what_depends_on_the_caller_is_never_remembered(tools: list[Any], is_kept: bool) -> None:
    """Nobody is shown another's tools."""
    listings = Listings(Registry(tools))
    listings.keep(b"", make_listing(b"[]"), 1)

    assert (listings.find(b"") is not None) is is_kept


@pytest.mark.parametrize(
    ("if_none_match", "is_had"),
    [
        ('"a"', True),
        ('W/"a"', True),  # compared weakly
        ('"b", "a"', True),
        ('"b",W/"a"  ', True),
        ("*", True),
        ('"b", *', True),
        ('"b"', False),
        ("a", False),
        ('"a', False),
        ('w/"a"', False),
        ("", False),
        (None, False),
        ('"A"', False),
    ],
)
def test_what_a_client_has_is_compared_with_what_there_is(if_none_match: str | None, is_had: bool) -> None:
    """As RFC 9110 says."""
    assert has(if_none_match, '"a"') is is_had


async def test_a_tool_that_comes_is_listed_at_once(client: httpx.AsyncClient, registry: Registry) -> None:
    """In every form that was asked for before."""
    before = [await _names(client), await _names(client, "/tools?strict=true"), await _names(client)]
    registry.add(second)
    after = [await _names(client), await _names(client, "/tools?strict=true"), await _names(client)]

    assert before == [["first"]] * 3
    assert after == [["first", "second"]] * 3


async def test_a_tool_that_goes_is_listed_no_more(client: httpx.AsyncClient, registry: Registry) -> None:
    """And one that has changed, as it is now."""
    await _names(client)
    changed = tool("first", description="Be another.")(lambda: None)

    registry.replace([second, changed])
    listed = (await client.get("/tools")).json()

    assert [(offered["function"]["name"], offered["function"]["description"]) for offered in listed] == [
        ("second", "Come second."),
        ("first", "Be another."),
    ]


async def test_the_etag_changes_with_the_listing(client: httpx.AsyncClient, registry: Registry) -> None:
    """And comes back with it."""
    tags = [(await client.get("/tools")).headers["ETag"] for _ in range(2)]
    registry.add(second)
    stale = await client.get("/tools", headers={"If-None-Match": tags[0]})
    registry.replace([first])
    fresh = await client.get("/tools", headers={"If-None-Match": tags[0]})

    assert (tags[0] == tags[1], stale.status_code, fresh.status_code) == (True, 200, 304)
    assert (stale.headers["ETag"] == tags[0], fresh.headers["ETag"] == tags[0]) == (False, True)


async def test_a_failed_change_changes_nothing(client: httpx.AsyncClient, registry: Registry) -> None:
    """The old tools are offered as before."""
    await _names(client)
    other = tool("first", description="Be another.")(lambda: None)

    with pytest.raises(Exception, match="Two tools are called 'first'"):
        registry.add(other)

    assert await _names(client) == ["first"]


async def test_each_caller_is_asked_about_anew(make_client: MakeClient) -> None:
    """A tool may come and go for one caller without any change of the registry."""
    answers = [True, False, True]

    @tool(is_enabled=lambda caller: answers.pop(0) if isinstance(caller, Caller) else False)
    async def fickle() -> None:
        """Come and go."""

    client = await make_client(first, fickle)

    assert [await _names(client) for _ in range(3)] == [["first", "fickle"], ["first"], ["first", "fickle"]]


async def test_a_listing_that_was_begun_before_a_change_is_not_remembered_after_it(
    client: httpx.AsyncClient, registry: Registry
) -> None:
    """It is of tools that are no longer offered."""
    asked, decided = asyncio.Event(), asyncio.Event()

    async def decide(_: Caller) -> bool:
        asked.set()
        return await decided.wait()

    registry.replace([tool("slow", description="Decide slowly.", is_enabled=decide)(lambda: None)])
    slow = asyncio.ensure_future(_names(client))
    await asked.wait()
    registry.replace([second])
    between = await _names(client)
    decided.set()

    assert (between, await slow) == (["second"], ["slow"])
    assert await _names(client) == ["second"]
