"""An answer that is ready is the same bytes, no matter who sends it."""

import pytest

from sidecall.http.fast_path import Reply
from tests.kit.asgi import Peer, scope_of


@pytest.mark.parametrize(
    ("reply", "headers"),
    [
        (Reply(b"[]"), [("content-length", "2"), ("content-type", "application/json")]),
        (
            Reply(b"{}", 202, {"Location": "/approvals/1"}),
            [("content-length", "2"), ("content-type", "application/json"), ("location", "/approvals/1")],
        ),
        (Reply(b"", 304, {"ETag": '"e"'}), [("etag", '"e"')]),
    ],
    ids=["a success", "one with a header", "nothing new"],
)
async def test_it_is_sent_alike_with_the_framework_and_without(reply: Reply, headers: list[tuple[str, str]]) -> None:
    """In JSON; what a client has already has no body, and says nothing of one."""
    scope = scope_of("GET", "/tools")
    framework = Peer()

    await reply.to_response()(scope, framework.receive, framework.send)

    alone = [(name.decode(), value.decode()) for name, value in reply.raw_headers]
    assert (sorted(alone), reply.raw_headers is reply.raw_headers) == (headers, True)
    assert (framework.status, framework.headers, framework.content) == (reply.status, headers, reply.body)


def test_it_is_a_success_unless_it_says_otherwise() -> None:
    """With no headers of its own."""
    assert Reply(b"[]") == Reply(b"[]", 200, {})
