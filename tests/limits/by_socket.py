"""Go beyond bounds byte by byte on a server's socket, and say how it answers."""

import json
import re
import select
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress

import httpx

from tests.kit.servers import Server
from tests.kit.sockets import GET, POST, connection, read_all

Provoke = Callable[[Server], str]
# As little as the server takes, and room enough for all that is tried at once.
NARROW = {
    "SIDECALL_HEADER_TIMEOUT": "1",
    "SIDECALL_BODY_TIMEOUT": "1",
    "SIDECALL_KEEP_ALIVE": "1",
    "SIDECALL_MEMORY_LIMIT_MB": "256",
    "SIDECALL_PROCESSES": "1",
    "SIDECALL_MAX_CONNECTIONS": "40",
    "SIDECALL_MAX_BODY_BYTES_IN_FLIGHT": "4194304",
    # So that a batch may be answered with half of what may wait unread.
    "SIDECALL_MAX_RESULT_BYTES": "33554432",
}
# The bytes of its answer.
_MUCH = 18_000_000
_BATCH = json.dumps([{"name": "repeat", "args": {"times": 900_000}, "id": "call_1"}] * 20).encode()


def say(answer: bytes) -> str:
    """Write an answer as the table does."""
    head, _, body = answer.partition(b"\r\n\r\n")
    again = ", `Retry-After`" if b"retry-after: " in head.lower() else ""
    return f"{int(head.split()[1])} `{json.loads(body)['type'].rpartition(':')[2]}`{again}"


def _send(sent: bytes) -> Provoke:
    def provoke(server: Server) -> str:
        with connection(server) as sock:
            sock.sendall(sent)
            return say(read_all(sock))

    return provoke


def _connect(server: Server) -> str:
    with ExitStack() as stack:
        *_, last = [stack.enter_context(connection(server)) for _ in range(41)]
        return say(read_all(last))


def _stall(server: Server) -> str:
    """Send three bodies at once that stop short of their end, for two of which there is room."""
    with ExitStack() as stack:
        stalled = [stack.enter_context(connection(server)) for _ in range(3)]
        for sock in stalled:
            sock.sendall(POST + b"Content-Length: 1900000\r\n\r\n" + b" " * 1_800_000)
        readable, _, _ = select.select(stalled, [], [], 60)
        return say(read_all(readable[0]))


def _wait(server: Server) -> str:
    with connection(server) as silent:
        said = _send(GET)(server)
        return f"{said}; where nothing was sent, {'closed' if read_all(silent) == b'' else 'answered'}"


def _ask_nothing_more(server: Server) -> str:
    with connection(server) as sock:
        sock.sendall(GET + b"\r\n")
        answer = read_all(sock)
    is_kept = answer.startswith(b"HTTP/1.1 200 ") and b"connection: close" not in answer.lower()
    return "closed" if is_kept else f"{answer!r}"


def _do_not_read(server: Server) -> str:
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        sock.connect((server.host, server.port))
        sock.sendall(_ask_for_much())
        answer = sock.recv(1)
        time.sleep(2.2)
        answer += _take(sock)
    return "cut off" if 0 < len(answer) < _MUCH else f"{len(answer)} bytes"


def _ask_for_much(headers: bytes = b"") -> bytes:
    head = POST.replace(b"/tool_calls", b"/tool_calls/batch") + headers
    return head + b"Content-Length: %d\r\n\r\n%b" % (len(_BATCH), _BATCH)


def _take(sock: socket.socket) -> bytes:
    """Read until the server closes or resets the connection."""
    answer = b""
    with suppress(ConnectionError):
        while received := sock.recv(1_000_000):
            answer += received
    return answer


def _send_ahead(server: Server) -> str:
    call = json.dumps({"name": "wait", "args": {"seconds": 2}, "id": "call_1"}).encode()
    answer = b""
    with connection(server) as sock, suppress(ConnectionError):
        sock.sendall(POST + b"Content-Length: %d\r\n\r\n" % len(call) + call + (GET + b"\r\n") * 8000)
        while received := sock.recv(65536):
            answer += received
    is_alone = re.findall(rb"HTTP/1.1 (\d+) ", answer) == [b"200"] and b"connection: close" in answer.lower()
    return "closed with the answer that is due" if is_alone else f"{len(answer)} bytes"


def _leave_unread(server: Server) -> str:
    """Take nothing of an answer, and then nothing of another, for which there is no room beside it."""
    with connection(server) as first, connection(server) as second:
        for sock in (first, second):
            sock.sendall(_ask_for_much(b"Connection: close\r\n"))
            sock.recv(1)
        sizes = [len(_take(sock)) for sock in (first, second)]
    return "the slowest reader is cut off" if sizes[0] < _MUCH < sizes[1] else f"{sizes} bytes"


def _hoard(server: Server) -> str:
    answer = httpx.post(f"{server.url}/tool_calls", json={"name": "hoard", "args": {}, "id": "1"}, timeout=30).json()
    return f"200, kind `{answer['response_metadata']['error']['kind']}`"


_CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
BY_SOCKET: dict[str, Provoke] = {
    "seconds until the headers are there": _wait,
    "seconds for which a connection is kept without a request": _ask_nothing_more,
    "seconds until the body is there": _send(POST + b"Content-Length: 10\r\n\r\n{"),
    "seconds in which a client takes nothing of an answer": _do_not_read,
    "bytes of the request line and headers": _send(GET + b"X: " + b"x" * 40_000 + b"\r\n\r\n"),
    "bytes of the names, tags and callers by which calls are chosen": _send(
        GET.replace(b"/healthz", b"/tool_calls?" + b"tag=xx&" * 6000) + b"\r\n"
    ),
    "bytes of the trailers, and of what is said of a chunk, which nobody reads": _send(
        _CHUNKED + b"2\r\n{}\r\n0\r\nX: " + b"x" * 40_000 + b"\r\n\r\n"
    ),
    "bytes of requests sent ahead of an answer": _send_ahead,
    "chunks of a body": _send(_CHUNKED + b"1\r\n \r\n" * 20_000),
    "megabytes that a tool process takes": _hoard,
}
# After all others and one by one, since each leaves room for nothing else.
LAST: dict[str, Provoke] = {
    "bytes of answers that wait on all connections, with those events": _leave_unread,
    "bytes of bodies and of what is sent ahead, on all connections": _stall,
    "connections": _connect,
}
