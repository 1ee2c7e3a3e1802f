"""What is unusual in the head of a request is read as everybody reads it, or refused; nothing follows a refusal."""

import json

import pytest

from tests.server.clients import Client, Seen, splits

HOST = b"Host: a\r\n"
BODY = b"2\r\n{}\r\n0\r\n\r\n"
NEXT = b"GET /next HTTP/1.1\r\nHost: a\r\n\r\n"


async def refuse(request: bytes, status: bytes, detail: str) -> None:
    """Send a request in every way, and look whether it is refused, and with it what comes after it."""
    for pieces in splits(request + NEXT):
        client = Client()
        await client.send(*pieces)

        assert client.lines == []
        assert client.statuses == [status]
        assert not client.wire.is_open
        head, _, body = b"".join(client.wire.pieces).partition(b"\r\n\r\n")
        assert b"content-type: application/problem+json\r\n" in head
        assert b"connection: close" in head
        assert detail in json.loads(body)["detail"]


@pytest.mark.parametrize(
    "version", [b" HTTP/2.0", b" HTTP/0.9", b" HTTP/1.7", b" HTTP/1.2", b" HTTP/3.0", b" HTTP/0.0", b""]
)
@pytest.mark.parametrize("headers", [HOST, HOST + b"Connection: Upgrade\r\nUpgrade: h2c\r\n", b""])
async def test_only_versions_that_are_spoken_are_answered(version: bytes, headers: bytes) -> None:
    """A first line without one is HTTP/0.9."""
    await refuse(b"GET /" + version + b"\r\n" + headers + b"\r\n", b"505", "It speaks HTTP/1.1 and HTTP/1.0")


@pytest.mark.parametrize("version", [b"http/1.1", b"HTTP/1.10", b"HTTP/11", b"HTTP/1", b"HTTP/1.1 ", b"XTTP/1.1"])
async def test_what_is_no_version_is_refused(version: bytes) -> None:
    """The line is not HTTP."""
    await refuse(b"GET / " + version + b"\r\n" + HOST + b"\r\n", b"400", "could not be read")


@pytest.mark.parametrize(
    "lines",
    [
        b"gzip, chunked",
        b"identity, chunked",
        b"gzip\r\nTransfer-Encoding: chunked",
        b"identity\r\nX: y\r\ntransfer-encoding: chunked",
        b"a,b\r\nTransfer-Encoding: c, Chunked",
    ],
)
@pytest.mark.parametrize("more", [b"", b"Connection: Upgrade\r\nUpgrade: h2c\r\n"])
async def test_a_coding_that_nobody_undoes_is_refused(lines: bytes, more: bytes) -> None:
    """The tool would get what is not its arguments."""
    head = b"POST / HTTP/1.1\r\nHost: a\r\n" + more + b"Transfer-Encoding: " + lines + b"\r\n\r\n"
    await refuse(head + BODY, b"501", "no other coding")


@pytest.mark.parametrize(
    "lines",
    [
        b",chunked",
        b"gzip,,chunked",
        b" ,chunked",
        b"\r\nTransfer-Encoding: gzip, chunked",
        b"chunked, gzip, chunked",
    ],
)
async def test_a_list_of_codings_that_is_none_is_refused(lines: bytes) -> None:
    """Others may read it differently."""
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: " + lines + b"\r\n\r\n"
    for pieces in splits(head + BODY + NEXT):
        client = Client()
        await client.send(*pieces)

        assert client.lines == []
        assert client.statuses == [b"400"]
        assert not client.wire.is_open


@pytest.mark.parametrize(
    "lines",
    [
        b"chunked, chunked",
        b"chunked\r\nTransfer-Encoding: chunked",
        b"chunked\r\nTransfer-Encoding: identity",
        b"chunked, identity",
        b"identity",
        b"gzip",
        b"",
        b"chunked,",
        b"xchunked",
        b"chunkedx",
        b"chunked;q=1",
        b'"chunked"',
        b"\x0bchunked",
        b"chunked\x0b",
        b"chunked\r\nContent-Length: 12",
        b"chunked\r\nContent-Length:",
    ],
)
@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
async def test_a_body_whose_end_nobody_can_tell_is_refused(lines: bytes, version: bytes) -> None:
    """As RFC 9112, 6.3 wants it."""
    head = b"POST / HTTP/" + version + b"\r\nHost: a\r\nTransfer-Encoding: " + lines + b"\r\n\r\n"
    await refuse(head + BODY, b"400", "")


async def test_chunks_are_unknown_to_http_1_0() -> None:
    """A proxy between may have passed them on without a look."""
    head = b"POST / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n"
    await refuse(head + BODY, b"400", "where its body ends")


@pytest.mark.parametrize("line", [b"chunked", b"Chunked", b"CHUNKED", b"\tchunked ", b"  chunked  "])
async def test_chunks_are_read(line: bytes) -> None:
    """However the word is written; what the next request says, it says of itself."""
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding:" + line + b"\r\n\r\n"
    for pieces in splits((head + BODY) * 2 + NEXT):
        client = Client()
        await client.send(*pieces)

        assert client.lines == ["POST /", "POST /", "GET /next"]
        assert [seen.body for seen in client.application.seen] == [b"{}", b"{}", b""]


async def test_a_coding_among_the_trailers_is_none() -> None:
    """Neither of its own request nor of the next."""
    head = (
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nTransfer-Encoding: gzip\r\n"
    )
    for pieces in splits(head + b"\r\n" + NEXT):
        client = Client()
        await client.send(*pieces)

        assert client.lines in (["POST /", "GET /next"], ["POST /"], [])


@pytest.mark.parametrize(
    ("target", "host", "line"),
    [
        (b"http://a/x", b"a", "GET /x"),
        (b"http://a", b"a", "GET /"),
        (b"http://a?b", b"a", "GET /"),
        (b"HTTP://A/x", b"a", "GET /x"),
        (b"http://a:80/x", b"a", "GET /x"),
        (b"http://a/x", b"A:80", "GET /x"),
        (b"https://a:443/x", b"a", "GET /x"),
        (b"http://a:8000/x", b"a:8000", "GET /x"),
        (b"http://[::1]:8000/x", b"[::1]:8000", "GET /x"),
    ],
)
async def test_a_target_may_name_the_server(target: bytes, host: bytes, line: str) -> None:
    """As requests to proxies do, which some clients send to everybody."""
    for pieces in splits(b"GET " + target + b" HTTP/1.1\r\nHost: " + host + b"\r\n\r\n" + NEXT):
        client = Client()
        await client.send(*pieces)

        assert client.application.seen == [
            Seen(line, [(b"host", host)], b""),
            Seen("GET /next", [(b"host", b"a")], b""),
        ]


async def test_the_name_in_a_target_stands_for_a_header_that_is_not_there() -> None:
    """HTTP/1.0 does without; what judges names has to see it."""
    for pieces in splits(b"GET http://b:80/x HTTP/1.0\r\n\r\n"):
        client = Client()
        await client.send(*pieces)

        assert client.application.seen == [Seen("GET /x", [(b"host", b"b:80")], b"")]


@pytest.mark.parametrize(
    "target",
    [b"http://evil.example/x", b"http://a.evil/x", b"http://a:81/x", b"https://a:80/x", b"http://a./x", b"http://b"],
)
@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
async def test_two_names_are_refused(target: bytes, version: bytes) -> None:
    """The one in the target is the one that counts, and a proxy in front may have gone by the other."""
    await refuse(b"GET " + target + b" HTTP/" + version + b"\r\n" + HOST + b"\r\n", b"400", "different servers")


@pytest.mark.parametrize(
    "target",
    [
        b"*",
        b"/x#y",
        b"/x?y#z",
        b"http://a/x#y",
        b"ftp://a/x",
        b"http://me@a/x",
        b"http://a@b/x",
        b"ws://a/x",
    ],
)
async def test_a_target_that_leads_nowhere_is_refused(target: bytes) -> None:
    """It is no path here."""
    await refuse(b"GET " + target + b" HTTP/1.1\r\n" + HOST + b"\r\n", b"400", "Its target")


@pytest.mark.parametrize("size", [100, 1_000, 16_000])
async def test_what_is_said_of_a_chunk_is_bounded(size: int) -> None:
    """Nobody reads it, so nobody may send it for ever; also not beside the first chunk."""
    client = Client()
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;a="
    await client.send(head, *[b"a" * size] * (50_000 // size))

    assert client.application.seen == []
    assert client.statuses == [b"431"]
    assert b"What stands beside chunks" in client.wire.pieces[-1]


async def test_options_may_ask_for_the_server_as_a_whole() -> None:
    """No other method does."""
    client = Client()
    await client.send(b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n" + NEXT)

    assert client.lines == ["OPTIONS *", "GET /next"]


async def test_http_1_0_is_not_told_to_go_on() -> None:
    """It knows no answers before the answer."""
    head = b"POST / HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    for pieces in splits(head + b"{}"):
        client = Client()
        await client.send(*pieces)

        assert client.statuses == [b"200"]
        assert [seen.body for seen in client.application.seen] == [b"{}"]


@pytest.mark.parametrize("size", [33_000, 40_000, 200_000])
@pytest.mark.parametrize("is_chunked", [False, True])
async def test_the_end_of_a_body_makes_no_head_large(size: int, is_chunked: bool) -> None:
    """Wherever the packet ends in which both come."""
    head = b"POST / HTTP/1.1\r\nHost: a\r\n"
    first, body = b"Content-Length: %d\r\n\r\n" % size, b"a" * size
    if is_chunked:
        first, body = b"Transfer-Encoding: chunked\r\n\r\n", b"%x\r\n" % size + body + b"\r\n0\r\n\r\n"
    more = b"GET /next HTTP/1.1\r\nHost: a\r\nX-Long: %b\r\nX-Longer: %b\r\n\r\n" % (b"b" * 3_000, b"c" * 20_000)
    for end in (1, 3, 4, 5, 10, 17, 18, 19, 20, 26, 27, 30, 40, 2_000, 3_038, 3_039, 3_040, 20_000, len(more) - 1):
        client = Client()
        await client.send(head + first, body + more[:end], more[end : end + 2_000], more[end + 2_000 :] or b"\r\n")

        assert client.lines == ["POST /", "GET /next"]
        assert client.statuses == [b"200", b"200"]


async def test_a_large_head_behind_a_body_is_refused() -> None:
    """In the packet of the body's end or behind it, and not only at its end."""
    head = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 40000\r\n\r\n"
    more = b"GET /next HTTP/1.1\r\nHost: a\r\nX-Long: " + b"b" * 40_000
    for end in (1, 10, 30, 100, 30_000, len(more)):
        client = Client()
        await client.send(head, b"a" * 40_000 + more[:end], more[end:] or b"c")

        assert client.lines == ["POST /"]
        assert client.statuses in ([b"200", b"431"], [b"200"])  # What is answered later takes its refusal with it.
        assert not client.wire.is_open


async def test_nobody_is_asked_for_a_body_that_was_refused() -> None:
    """Its beginning came with the head and was no chunk: the application finds its client gone, and nothing else."""
    head = b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"
    client = Client()
    await client.send(head + b"zz\r\n")

    assert client.statuses == [b"400"]
    assert client.application.gone == 1
