"""What a proxy says of its client is read, and nothing else is taken for it."""

import pytest
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from tests.server.clients import Client
from tests.server.test_request_reader import CHUNKED, SECOND


@pytest.mark.parametrize("is_quick", [True, False])
async def test_only_what_a_proxy_says_of_its_client_is_believed(is_quick: bool) -> None:
    """Of each request by itself, also where others wait behind a slow one; what trailers say is not."""
    client = Client(is_quick=is_quick)
    client.connection.serve(ProxyHeadersMiddleware(client.application, "*"))  # type: ignore[arg-type]
    said = b"Host: a\r\nX-Forwarded-For: 9.9.9.9\r\nX-Forwarded-Proto: https"
    await client.send(SECOND, SECOND.replace(b"Host: a", said), CHUNKED + b"X-Forwarded-For: 6.6.6.6\r\n\r\n", SECOND)
    client.application.may_answer.set()
    while client.connection.pipeline or client.wire.unread:
        await client.send()
    await client.send()

    assert [(seen.client, seen.scheme) for seen in client.application.seen] == [
        (None, "http"),
        ("9.9.9.9", "https"),
        (None, "http"),
        (None, "http"),
    ]
