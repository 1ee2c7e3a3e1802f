"""Valid and malformed requests on one connection, each made from a number, in pieces."""

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_INNER = b"POST /inner HTTP/1.1\r\nHost: a\r\nX-Who: ceo\r\nContent-Length: 2\r\n\r\n{}"
_BODIES = (
    b"{}",
    b"",
    b"0\r\n\r\n",
    b"\r\n",
    b"GET /in HTTP/1.1\r\nHost: a\r\n\r\n",
    _INNER,
    b"x" * 70,
    b"\x00\xff\r\n\r\n",
)
_TARGETS = (b"/", b"/a", b"/a?b=c", b"/%2e%2e", b"/a;b=c", b"//x", b"/a?b=%20&c")
_METHODS = (b"GET", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"HEAD", b"PATCH")
_LINES = (
    b"Accept: */*", b"X-Who: me", b"X-Empty:", b"X-Tabs:\ta\t", b"Connection: keep-alive", b"Cookie: a=b; c=d",
    b"Expect: 100-continue", b"Connection: Upgrade\r\nUpgrade: h2c", b"Upgrade: websocket\r\nconnection: x, upgrade",
    b"Connection: close", b"Trailer: X-Who",
)  # fmt: skip
_EXTENSIONS = (b"", b"", b"", b";a", b";a=b", b';a="b"', b";a=b;c=d", b" ;a=b")
_TRAILERS = (b"", b"", b"", b"X-Who: ceo\r\n", b"Host: b\r\n", b"Content-Length: 5\r\n", b"A: b\r\nC: d\r\n")

# Faults of a header or two, by name, and the lines that have them.
_WRONG_LINES: dict[str, tuple[bytes, ...]] = {
    "two lengths": (b"Content-Length: 2\r\nContent-Length: 3", b"Content-Length: 3\r\nContent-Length: 2"),
    "the same length twice": (b"Content-Length: 2\r\nContent-Length: 2", b"Content-Length: 2, 2"),
    "an odd length": tuple(
        b"Content-Length: %b" % odd
        for odd in (b"+2", b"-2", b"0x2", b"2 2", b"", b"2,", b"2a", b"2.0", b"9" * 30, b"\x0b2", b"1_0")
    ),
    "length and chunked": (
        b"Content-Length: 2\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: chunked\r\nContent-Length: 2",
    ),
    "a coding before chunked": (
        b"Transfer-Encoding: gzip, chunked",
        b"Transfer-Encoding: identity, chunked",
        b"Transfer-Encoding: , chunked",
        b"Transfer-Encoding: identity\r\nTransfer-Encoding: chunked",
        b"Transfer-Encoding: gzip\r\nTransfer-Encoding: deflate, chunked",
        b"Transfer-Encoding: \r\nTransfer-Encoding: gzip,,chunked",
    ),
    "an odd encoding": tuple(
        b"Transfer-Encoding: %b" % odd
        for odd in (
            b"identity",
            b"chunked, gzip",
            b"xchunked",
            b"chunked;q=1",
            b"chunked, chunked",
            b"",
            b"\x0bchunked",
            b'"chunked"',
            b"chunked,",
            b"chunked, identity",
        )
    ),
    "two encodings": (
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    ),
    "two hosts": (b"Host: b", b"host: a"),
    "a fold": (b"X-Fold: a\r\n b", b"X-Fold:\r\n\ta", b"Content-Length:\r\n 2", b"Transfer-Encoding:\r\n chunked"),
    "a name with a space": (b"Content-Length : 2", b"X Y: z", b"Transfer-Encoding : chunked", b" X: y", b"\tX: y"),
    "no name": (b"nothing", b": x", b"=", b"Content-Length"),
    "an odd sign in a name": (b"X\x00Y: z", b"X(: z", b"X\xff: z", b"X@Y: z", b"Content-Length\x0b: 2"),
    "an odd sign in a value": (b"X: a\x00b", b"X: a\rb", b"X: \x7f", b"X: \x01", b"X: a\r\rb"),
    "a byte beyond ASCII in a value": (b"X: \xff\xfe", b"X: \xc3\xa9"),
}
_WRONG_STARTS: dict[str, tuple[bytes, ...]] = {
    "an odd version": tuple(
        b"POST / %b" % odd
        for odd in (
            b"HTTP/1.2",
            b"HTTP/1.7",
            b"HTTP/2.0",
            b"HTTP/3.0",
            b"HTTP/0.9",
            b"http/1.1",
            b"HTTP/1.10",
            b"HTTP/11",
            b"",
        )
    ),
    "two spaces": (b"POST /  HTTP/1.1", b"POST  / HTTP/1.1"),
    "an odd start": tuple(
        b"%b HTTP/1.1" % odd
        for odd in (b"POST\t/", b" POST /", b"post /", b"BREW /", b"POST", b"PO ST /", b"P\xffST /")
    ),
    "an odd target": tuple(
        b"POST %b HTTP/1.1" % odd for odd in (b"/a b", b"/\x00", b"/\xff", b"/\x7f", b"/#a", b"a", b"*", b"?a", b"/\t")
    ),
    "a whole URL": (b"POST http://a/x HTTP/1.1", b"POST http://b/x?y HTTP/1.1", b"POST http://me@a/x HTTP/1.1"),
    "CONNECT": (b"CONNECT a:443 HTTP/1.1", b"CONNECT /x HTTP/1.1"),
    "HTTP/1.0": (b"POST / HTTP/1.0", b"GET / HTTP/1.0"),
}
# Of a size that fits into 64 bits, in which the server counts.
_MOST_DIGITS = 16
_WRONG_SIZES = (
    b"0x2", b"+2", b"-2", b"2 ", b" 2", b"", b"g", b"2_", b"0002", b"1" + b"0" * 16, b"f" * 16, b"2\t",
    b"\x0b2", b"2;\n",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Torn:
    """A request in its pieces, its fault, and how everything else behaves meanwhile.

    `sent` is all of it, without leading empty lines.
    """

    pieces: tuple[bytes, ...]
    sent: bytes
    oddities: frozenset[str]
    is_slow: bool
    is_unread: bool
    is_hung_up: bool


def tear(seed: int) -> Torn:
    """Make the request of a number."""
    dice = random.Random(seed)
    oddities: set[str] = set()
    sent = b"".join(_write(dice, oddities) for _ in range(dice.choice((1, 1, 2, 2, 3, 5))))
    if dice.random() < 0.15:
        sent = _mutate(dice, sent)
        oddities |= {"mutated"} | ({"two spaces"} if b"  " in sent else set())
    # RFC 9112, 2.2: a server ignores empty lines before a request; h11 does not.
    before = dice.choice((b"\r\n", b"\r\n\r\n", b"\n")) if dice.random() < 0.1 else b""
    return Torn(
        _cut(dice, seed, before + sent),
        sent,
        frozenset(oddities),
        is_slow=dice.random() < 0.2,
        is_unread=dice.random() < 0.1,
        is_hung_up=dice.random() < 0.3,
    )


def _write(dice: random.Random, oddities: set[str]) -> bytes:
    start = b"%b %b HTTP/1.1" % (dice.choice(_METHODS), dice.choice(_TARGETS))
    lines = [b"Host: a", *dice.sample(_LINES, dice.choice((0, 0, 1, 2)))]
    body, framing = _frame(dice, oddities)
    lines += framing
    if dice.random() < 0.3:
        start, lines = _spoil(dice, oddities, start, lines)
    dice.shuffle(lines)
    if start.startswith(b"HEAD") and b"Expect: 100-continue" in lines:
        oddities.add("HEAD that expects")
    head = b"\r\n".join([start, *lines, b"", b""])
    if dice.random() < 0.04:
        head = _end_lines_oddly(dice, head)
        oddities.add("odd ends of lines")
    return head + body


def _frame(dice: random.Random, oddities: set[str]) -> tuple[bytes, list[bytes]]:
    """Make a body and the lines that say how long it is."""
    body = dice.choice(_BODIES)
    how = dice.random()
    if how < 0.3:
        return b"", []
    if how < 0.6:
        return body, [b"Content-Length: %d" % len(body)]
    line = dice.choice((b"Transfer-Encoding: chunked", b"transfer-encoding: Chunked", b"Transfer-Encoding:chunked"))
    return _chunk(dice, oddities, body), [line]


def _chunk(dice: random.Random, oddities: set[str], body: bytes) -> bytes:
    parts = []
    is_odd = dice.random() < 0.12
    while body:
        size = dice.randint(1, len(body))
        written = b"%x" % size
        part, body = body[:size], body[size:]
        end = b"\r\n"
        if is_odd and dice.random() < 0.5:
            oddities.add("an odd chunk")
            if dice.random() < 0.6:
                written = dice.choice(_WRONG_SIZES)
                if written != written.rstrip(b" \t"):
                    oddities.add("a blank after a size")
                if len(written) > _MOST_DIGITS:
                    oddities.add("a size beyond 64 bits")
            else:
                end = dice.choice((b"", b"\n", b"xx", b"\r", b"\n\r", b"\r\n\r\n"))
        elif is_odd and dice.random() < 0.3:
            oddities.add("an odd extension")
            written += dice.choice((b";\n", b";a\n", b";a\rb", b";\x00", b';a="\r\n"', b";a=b\r", b" a", b";\xff"))
        parts += [written, dice.choice(_EXTENSIONS), b"\r\n", part, end]
    trailers = dice.choice(_TRAILERS)
    if b"Length" in trailers:
        oddities.add("a length among the trailers")
    return b"".join([*parts, b"0", dice.choice(_EXTENSIONS), b"\r\n", trailers, b"\r\n"])


def _spoil(dice: random.Random, oddities: set[str], start: bytes, lines: list[bytes]) -> tuple[bytes, list[bytes]]:
    if dice.random() < 0.3:
        oddity = dice.choice(list(_WRONG_STARTS))
        start = dice.choice(_WRONG_STARTS[oddity])
    elif dice.random() < 0.1:
        oddity = "no host"
        lines = lines[1:]
    else:
        oddity = dice.choice(list(_WRONG_LINES))
        if "encoding" in oddity:  # In place of the right one.
            lines = [line for line in lines if not line.lower().startswith(b"transfer-encoding")]
        lines = [*lines, dice.choice(_WRONG_LINES[oddity])]
    oddities.add(oddity)
    return start, lines


def _end_lines_oddly(dice: random.Random, head: bytes) -> bytes:
    if dice.random() < 0.5:
        return head.replace(b"\r\n", b"\n")
    lines = head.split(b"\r\n")
    ends = [b"\r\n"] * (len(lines) - 1)
    ends[dice.randrange(len(ends))] = dice.choice((b"\n", b"\r", b"\r\r\n", b"\n\r"))
    return b"".join(line + end for line, end in zip(lines, [*ends, b""], strict=True))


def _mutate(dice: random.Random, sent: bytes) -> bytes:
    at = dice.randrange(len(sent))
    ways: Sequence[Callable[[], bytes]] = (
        lambda: sent[:at] + sent[at + 1 :],
        lambda: sent[:at] + dice.choice((b"\r", b"\n", b"\x00", b" ", b":", b"0", b"\xff", b"\r\n")) + sent[at:],
        lambda: sent[:at] + bytes([sent[at] ^ (1 << dice.randrange(8))]) + sent[at + 1 :],
        lambda: sent[: at + 1],
    )
    return dice.choice(ways)()


def _cut(dice: random.Random, seed: int, sent: bytes) -> tuple[bytes, ...]:
    """Cut at one place, which is another for each number, or at a few, or at all."""
    how = dice.random()
    if how < 0.2 or len(sent) < 2:
        return (sent,)
    if how < 0.27:
        return tuple(sent[at : at + 1] for at in range(len(sent)))
    if how < 0.7:
        at = 1 + seed % (len(sent) - 1)
        return (sent[:at], sent[at:])
    places = sorted({0, *(dice.randrange(1, len(sent)) for _ in range(dice.randint(2, 6))), len(sent)})
    return tuple(sent[begin:end] for begin, end in itertools.pairwise(places))
