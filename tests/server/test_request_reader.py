"""Every request is framed by its own headers, however it is cut into packets."""

import pytest

from sidecall.server.refusals import MAX_HEADER_BYTES
from sidecall.server.request_reader import RequestRoom
from tests.server.clients import Client, Seen, settle, splits

INNER = b"POST /inner HTTP/1.1\r\nHost: a\r\nX-Forwarded-User: ceo\r\nContent-Length: 0\r\n\r\n"
CHUNKED = b"POST /first HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"
SECOND = b"GET /second HTTP/1.1\r\nHost: a\r\n\r\n"


def asking_for(protocol: bytes, body: bytes, *, connection: bytes = b"Upgrade") -> bytes:
    """Make a request with a body that wants another protocol."""
    head = b"POST /outer HTTP/1.1\r\nHost: a\r\nConnection: %b\r\nUpgrade: %b\r\nContent-Length: %d\r\n\r\n"
    return head % (connection, protocol, len(body)) + body


@pytest.mark.parametrize("protocol", [b"h2c", b"websocket", b"foo", b"TLS/1.0, HTTP/2.0"])
async def test_a_body_after_an_upgrade_is_no_second_request(protocol: bytes) -> None:
    """A client that sends it is not run as another one."""
    for pieces in splits(asking_for(protocol, INNER)):
        client = Client()
        await client.send(*pieces)

        assert client.application.seen == [
            Seen(
                "POST /outer",
                [(b"host", b"a"), (b"connection", b"Upgrade"), (b"content-length", b"%d" % len(INNER))],
                INNER,
            )
        ]
        assert client.statuses == [b"200"]
        assert client.wire.is_open


async def test_requests_that_want_upgrades_follow_each_other() -> None:
    """On one connection, with those that do not between them."""
    java = b"Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA"
    requests = asking_for(b"h2c", b"{}", connection=java) + SECOND + asking_for(b"h2c", b"[]", connection=java)
    for pieces in splits(requests):
        client = Client()
        await client.send(*pieces)

        assert client.lines == ["POST /outer", "GET /second", "POST /outer"]
        assert [seen.body for seen in client.application.seen] == [b"{}", b"", b"[]"]
        assert client.statuses == [b"200"] * 3


async def test_a_chunked_body_after_an_upgrade_is_read() -> None:
    """To its own end."""
    chunked = CHUNKED.replace(b"Host: a", b"Host: a\r\nConnection: upgrade\r\nUpgrade: h2c") + b"\r\n"
    for pieces in splits(chunked + SECOND):
        client = Client()
        await client.send(*pieces)

        assert client.lines == ["POST /first", "GET /second"]
        assert client.application.seen[0].body == b"{}"


async def test_thousands_of_upgrades_in_one_packet_are_served() -> None:
    """Each begins the reading again, but none inside the other."""
    client = Client()
    await client.send(b"GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n" * 1000 + SECOND)
    for _ in range(1000):
        await client.send(b"")

    assert client.lines == ["GET /"] * 1000 + ["GET /second"]


async def test_an_upgrade_without_a_host_is_refused() -> None:
    """As any other request."""
    for pieces in splits(asking_for(b"h2c", b"{}").replace(b"Host: a\r\n", b"")):
        client = Client()
        await client.send(*pieces)

        assert client.lines == []
        assert client.statuses == [b"400"]
        assert not client.wire.is_open


@pytest.mark.parametrize("target", [b"evil.example:443", b"/tool_calls"])
async def test_connect_is_refused(target: bytes) -> None:
    """What follows would be a tunnel, of which this is no end."""
    for pieces in splits(b"CONNECT " + target + b" HTTP/1.1\r\nHost: a\r\n\r\n" + INNER):
        client = Client()
        await client.send(*pieces)

        assert client.lines == []
        assert client.statuses == [b"400"]
        assert not client.wire.is_open


@pytest.mark.parametrize(
    "trailer", [b"X-Forwarded-User: admin", b"Host: b", b"Expect: 100-continue", b"Connection: upgrade\r\nUpgrade: h2c"]
)
async def test_trailers_are_no_headers(trailer: bytes) -> None:
    """Neither of their own request nor of the next, no matter what comes in one packet with them."""
    for pieces in splits(CHUNKED + trailer + b"\r\n\r\n" + SECOND):
        client = Client()
        await client.send(*pieces)

        assert client.application.seen == [
            Seen("POST /first", [(b"host", b"a"), (b"transfer-encoding", b"chunked")], b"{}"),
            Seen("GET /second", [(b"host", b"a")], b""),
        ]
        assert client.statuses == [b"200", b"200"]


@pytest.mark.parametrize("size", [1, 1000, 100_000])
@pytest.mark.parametrize(
    ("endless", "times"),
    [
        pytest.param(b"A: b\r\n", 20_000, id="many"),
        pytest.param(b"a", 100_000, id="a long name"),
        pytest.param(b"A: " + b"b" * 97, 1_000, id="a long value"),
    ],
)
async def test_trailers_are_bounded(endless: bytes, times: int, size: int) -> None:
    """Like headers; they are not read to their end."""
    trailers = endless * times
    pieces = [trailers[at : at + size] for at in range(0, len(trailers), size)]
    client, received = Client(), 0
    client.connection.data_received(CHUNKED)
    for piece in pieces:
        if not client.wire.is_open:
            break
        await client.send(piece)
        received += len(piece)
    while client.connection.flow.is_behind:
        await settle()
    await client.send(b"\r\n\r\n")

    assert not client.wire.is_open
    assert client.statuses == [b"431"]
    assert received <= MAX_HEADER_BYTES + size


async def test_trailers_that_come_in_one_packet_with_all_else_are_bounded() -> None:
    """Here nothing is left to be cut off, but the request is not run."""
    client = Client()
    await client.send(CHUNKED + b"A: b\r\n" * 10_000 + b"\r\n")

    assert client.lines == []
    assert client.statuses == [b"431"]


async def test_large_chunks_are_no_trailers() -> None:
    """However many packets they take."""
    client = Client()
    await client.send(CHUNKED.partition(b"2\r\n")[0] + b"%x\r\n" % 1_000_000, *[b"a" * 50_000] * 20, b"\r\n0\r\n\r\n")

    assert [len(seen.body) for seen in client.application.seen] == [1_000_000]
    assert client.statuses == [b"200"]


@pytest.mark.parametrize("version", [b"1.0", b"1.1"])
@pytest.mark.parametrize("hosts", [b"Host: a\r\nHost: b\r\n", b"Host: a\r\nX: y\r\nhost: a\r\n"])
async def test_two_hosts_are_refused(version: bytes, hosts: bytes) -> None:
    """A proxy in front may have gone by the other."""
    for pieces in splits(b"GET / HTTP/%b\r\n" % version + hosts + b"\r\n"):
        client = Client()
        await client.send(*pieces)

        assert client.lines == []
        assert client.statuses == [b"400"]
        assert b"only one header `Host`" in client.wire.pieces[-1]
        assert not client.wire.is_open


async def test_each_request_has_a_host_of_its_own() -> None:
    """On one connection there may be many."""
    client = Client()
    await client.send(SECOND, SECOND.replace(b"Host: a", b"Host: b"))

    assert client.statuses == [b"200", b"200"]
    assert client.wire.is_open


@pytest.mark.parametrize("method", [b"POST", b"GET", b"HEAD"])
async def test_an_answer_before_the_body_was_asked_for_closes(method: bytes) -> None:
    """Nobody can know whether the body still comes."""
    for pieces in splits(method + b" /early HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"):
        client = Client()
        await client.send(*pieces)

        assert client.statuses == [b"200"]
        assert b"connection: close\r\n" in b"".join(client.wire.pieces)
        assert not client.wire.is_open


async def test_an_answer_after_the_body_was_asked_for_does_not_close() -> None:
    """The client was told to go on."""
    head = b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    client = Client()
    await client.send(head, b"{}", SECOND)
    together = Client()
    await together.send(head.replace(b" / ", b" /early ") + b"{}", SECOND)

    assert client.statuses == [b"100", b"200", b"200"]
    assert [seen.body for seen in client.application.seen] == [b"{}", b""]
    assert together.statuses == [b"200", b"200"]


async def test_what_is_sent_ahead_is_not_read_ahead() -> None:
    """Behind a slow call, a request costs far more memory than its bytes."""
    client = Client(is_quick=False)
    await client.send(SECOND, *[SECOND * 1000] * 3)
    waiting = len(client.connection.pipeline)
    was_read = client.wire.is_read
    client.application.may_answer.set()
    while client.connection.pipeline or client.wire.unread:
        await client.send()
    await client.send()

    assert 1 <= waiting <= 1024 // len(SECOND) + 1
    assert (was_read, len(client.wire.unread)) == (False, 0)
    assert client.lines == ["GET /second"] * 3001


async def test_requests_that_are_sent_ahead_are_answered_in_their_order() -> None:
    """Their bodies, too, may be cut anywhere, or come long after."""
    second = b"POST /with HTTP/1.1\r\nHost: a\r\nContent-Length: 8\r\n\r\n\r\n\r\n\r\n\r\n"
    for pieces in splits(SECOND + second + CHUNKED + b"\r\n" + SECOND):
        client = Client(is_quick=False)
        await client.send(*pieces)
        client.application.may_answer.set()
        for _ in range(10):
            await client.send()

        assert client.lines == ["GET /second", "POST /with", "POST /first", "GET /second"]
        assert [seen.body for seen in client.application.seen] == [b"", b"\r\n" * 4, b"{}", b""]
        assert client.statuses == [b"200"] * 4


async def test_nonsense_behind_a_slow_request_does_not_take_its_answer() -> None:
    """The connection is closed with it."""
    for pieces in splits(SECOND + b"nonsense\r\n\r\n" + SECOND):
        client = Client(is_quick=False)
        await client.send(*pieces)
        client.application.may_answer.set()
        await client.send()

        assert client.lines == ["GET /second"]
        assert client.statuses == [b"200"]
        assert not client.wire.is_open


async def test_nonsense_behind_an_answer_that_is_read_slowly_does_not_keep_the_connection() -> None:
    """It is closed with the answer, which may have been ready before the nonsense came."""
    client = Client()
    client.connection.pause_writing()
    await client.send(SECOND)
    await client.send(b"nonsense\r\n\r\n")
    client.connection.resume_writing()
    await client.send()

    assert client.statuses == [b"200"]
    assert b"connection: close\r\n" in b"".join(client.wire.pieces)
    assert not client.wire.is_open


async def test_who_hangs_up_behind_what_was_sent_ahead_is_noticed() -> None:
    """After a second, reading goes on; where that is too much, the connection ends with the answer."""
    client = Client(is_quick=False)
    await client.send(SECOND, *[SECOND * 1000] * 30)
    client.connection.look(0)
    client.connection.look(0.5)
    await client.send()
    was_left = len(client.wire.unread)
    client.application.may_answer.set()
    await client.send()

    assert was_left == 0
    assert client.lines == ["GET /second"]
    assert client.statuses == [b"200"]
    assert b"connection: close" in b"".join(client.wire.pieces)
    assert not client.wire.is_open


async def test_what_was_sent_ahead_of_a_slow_answer_is_answered() -> None:
    """Also when reading has gone on meanwhile."""
    client = Client(is_quick=False)
    await client.send(SECOND, SECOND * 1000, SECOND * 1000)
    for look in range(100):
        client.connection.look(look)
    await client.send()
    was_left = len(client.wire.unread)
    client.application.may_answer.set()
    while client.connection.pipeline:
        await client.send()
    await client.send()

    assert was_left == 0
    assert client.lines == ["GET /second"] * 2001
    assert client.wire.is_open


HEAD = CHUNKED.partition(b"2\r\n")[0]
CHOPPED = HEAD + b"1\r\n.\r\n" * 16_000 + b"0\r\n\r\n"


async def test_bodies_in_very_many_chunks_hold_up_nobody() -> None:
    """Each chunk takes as long as a thousand bytes, and so they are read in turns."""
    room = RequestRoom(1_000_000_000)
    many, other = [Client(room=room) for _ in range(40)], Client(room=room)
    for client in many:
        client.connection.data_received(CHOPPED)
    await other.send(SECOND)
    answered = [len(client.statuses) for client in many]
    while any(client.connection.flow.is_behind for client in many):
        await other.send(SECOND)

    assert (other.statuses[0], sum(answered)) == (b"200", 0)
    assert [[len(seen.body) for seen in client.application.seen] for client in many] == [[16_000]] * 40
    assert all(client.statuses == [b"200"] and client.wire.is_read for client in many)


async def test_nothing_more_is_taken_of_whom_it_is_not_the_turn() -> None:
    """Not even when the application takes what was read."""
    client = Client()
    client.connection.data_received(CHOPPED.removesuffix(b"0\r\n\r\n"))
    taken = [client.wire.is_read]
    while client.connection.flow.is_behind:
        taken.append(client.wire.is_read)
        await settle()
    await client.send(b"40\r\n" + b"." * 64 + b"\r\n0\r\n\r\n", SECOND)

    assert not any(taken)
    assert client.wire.is_read
    assert [len(seen.body) for seen in client.application.seen] == [16_064, 0]
    assert client.statuses == [b"200", b"200"]


async def test_a_client_that_hangs_up_before_its_turn_is_forgotten() -> None:
    """Its bytes make room at once, and others have their turn."""
    room = RequestRoom(1_000_000_000)
    client, other = Client(room=room), Client(room=room)
    client.connection.data_received(CHOPPED)
    client.connection.connection_lost(None)
    left = room.used
    other.connection.data_received(CHOPPED)
    while other.connection.flow.is_behind:
        await settle()
    await other.send()

    assert (left, client.application.gone) == (0, 1)
    assert (other.statuses, room.used) == ([b"200"], 0)
