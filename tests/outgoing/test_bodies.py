"""Answers have an end: in bytes, unpacked, and in time."""

import asyncio
import gzip
import zlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from sidecall import OutgoingRefused, guarded_async_client, guarded_client
from tests.outgoing.sites import Site, serving

MOST = 100_000
TOO_LARGE = "Refused: the answer is larger than 100000 bytes. Ask for a part of it, or for another address."


@pytest.fixture(scope="module", name="site")
def serve_site() -> Iterator[Site]:
    """Serve one host for all tests here."""
    with serving() as site:
        site.give("/fits", b"x" * MOST)
        site.give("/large", b"x" * (MOST + 1))
        site.give("/packed", gzip.compress(b"packed"), Content_Encoding="gzip")
        site.give_bomb("/packed-fits", MOST)
        site.give_bomb("/bomb", 50_000_000)
        site.give_bomb("/large-packed", 5_000_000)
        site.give("/brotli", b"x", Content_Encoding="br")
        site.give("/two", gzip.compress(gzip.compress(b"x")), Content_Encoding="gzip, gzip")
        site.give("/broken", b"not gzip", Content_Encoding="gzip")
        site.give("/zlib", zlib.compress(b"x"), Content_Encoding="deflate")
        yield site


@pytest.fixture(autouse=True)
def _open(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIDECALL_OUTGOING_PRIVATE_HOSTS", f"127.0.0.1:{site.port}")


async def read(url: str, **options: Any) -> tuple[bytes, bytes]:
    """Read an answer with the sync client and with the async one."""
    with guarded_client(**options) as client:
        first = client.get(url)
    async with guarded_async_client(**options) as asyncs:
        second = await asyncs.get(url)
    return first.content, second.content


@pytest.mark.parametrize(
    ("path", "body"),
    [("/fits", b"x" * MOST), ("/packed", b"packed"), ("/packed-fits", bytes(MOST))],
)
async def test_what_fits_is_read(site: Site, path: str, body: bytes) -> None:
    """And unpacked."""
    assert await read(site.url + path, max_bytes=MOST) == (body, body)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/large", TOO_LARGE),
        ("/bomb", TOO_LARGE),
        ("/brotli", "Refused: the answer is packed as 'br', which was not asked for. Try another address."),
        ("/two", "Refused: the answer is packed as 'gzip, gzip', which was not asked for. Try another address."),
        ("/zlib", "Refused: the answer is packed as 'deflate', which was not asked for. Try another address."),
    ],
)
async def test_what_does_not_fit_is_refused(site: Site, path: str, reason: str) -> None:
    """With a text for the model."""
    with guarded_client(max_bytes=MOST) as client, pytest.raises(OutgoingRefused) as first:
        client.get(site.url + path)
    async with guarded_async_client(max_bytes=MOST) as asyncs:
        with pytest.raises(OutgoingRefused) as second:
            await asyncs.get(site.url + path)

    assert (first.value.message, second.value.message) == (reason, reason)


def test_a_bomb_is_unpacked_little_by_little(site: Site) -> None:
    """No more than is allowed is ever there, no matter who reads it how."""
    pieces: list[int] = []

    with (
        guarded_client(max_bytes=MOST) as client,
        client.stream("GET", f"{site.url}/bomb") as response,
        pytest.raises(OutgoingRefused),
    ):
        pieces += map(len, response.iter_bytes())

    assert sum(pieces) <= MOST
    assert "Content-Encoding" not in response.headers


async def test_others_run_while_a_piece_is_unpacked(site: Site) -> None:
    """A small piece holds thousands of times its size."""
    turns: list[int] = []

    async def take_turns() -> None:
        while True:
            turns.append(0)
            await asyncio.sleep(0)

    others = asyncio.create_task(take_turns())
    async with (
        guarded_async_client(max_bytes=10_000_000) as client,
        client.stream("GET", f"{site.url}/large-packed") as it,
    ):
        pieces = [len(turns) async for _ in it.aiter_raw()]
    others.cancel()

    assert len(pieces) > 50
    assert len(set(pieces)) == len(pieces)


def test_what_is_not_packed_as_it_says_is_an_error_of_the_answer(site: Site) -> None:
    """As with every client."""
    with guarded_client() as client, pytest.raises(httpx.DecodingError):
        client.get(f"{site.url}/broken")


@pytest.mark.parametrize("path", ["/drip-head", "/drip-body"])
async def test_what_comes_drop_by_drop_is_cut_off(site: Site, path: str) -> None:
    """Although no single wait is long."""
    with guarded_client(max_seconds=0.4) as client, pytest.raises(httpx.ReadTimeout):
        client.get(site.url + path)
    async with guarded_async_client(max_seconds=0.4) as asyncs:
        with pytest.raises(httpx.ReadTimeout):
            await asyncs.get(site.url + path)


async def test_an_operator_sets_the_bounds(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool may ask for less, never for more."""
    monkeypatch.setenv("SIDECALL_OUTGOING_MAX_BYTES", "1024")
    with guarded_client(max_bytes=MOST) as client, pytest.raises(OutgoingRefused, match="larger than 1024 bytes"):
        client.get(f"{site.url}/fits")

    monkeypatch.setenv("SIDECALL_OUTGOING_TIMEOUT", "0.4")
    with guarded_client(max_seconds=60) as client, pytest.raises(httpx.ReadTimeout):
        client.get(f"{site.url}/drip-body")


async def test_connections_are_kept(site: Site) -> None:
    """For the next request to the same host."""
    site.connections.clear()
    async with guarded_async_client() as asyncs:
        await asyncs.get(f"{site.url}/packed")
        await asyncs.get(f"{site.url}/fits")

    assert len(site.connections) == 1
