"""A model reads what it can do about a refusal; the operator reads in the log what would change it."""

import logging

import pytest

from sidecall import OutgoingRefused, ToolMessage, guarded_async_client, guarded_client, tool

# What only operators and authors can do.
FOR_OPERATORS = ("SIDECALL_", "private=", "allow=", "block=", "max_bytes=")


@pytest.mark.parametrize(
    ("options", "hosts", "url", "words", "hint"),
    [
        ({"private": ["127.0.0.0/8"]}, "", "http://127.0.0.1:9/", "Use an address without a port.", "OUTGOING_PORTS"),
        ({"private": ["10.0.0.0/8"]}, "", "http://127.0.0.1/", "Use an address that is.", "PRIVATE_HOSTS"),
        ({}, "", "http://localhost:9/", "Use an address without a port.", 'private=["localhost:9"]'),
        ({"block": ["a.example"]}, "", "https://a.example/", "Use another address.", "block="),
        ({"allow": ["a.example"]}, "", "https://b.example/", "It reaches a.example only.", "allow="),
        ({}, "a.example", "https://b.example/", "It reaches a.example only.", "SIDECALL_OUTGOING_HOSTS"),
        (
            {"allow": [f"h{number}.example" for number in range(23)]},
            "",
            "https://b.example/",
            "h19.example and 3 others only.",
            "allow=",
        ),
        ({"allow": ["a.example"]}, "", f"https://{'q' * 20_000}/", "qqq…. It reaches a.example only.", "allow="),
    ],
)
async def test_the_hint_is_for_the_log(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    options: dict[str, list[str]],
    hosts: str,
    url: str,
    words: str,
    hint: str,
) -> None:
    """In an async tool and in a sync one."""
    monkeypatch.setenv("SIDECALL_OUTGOING_HOSTS", hosts)
    caplog.set_level(logging.INFO, "sidecall")

    @tool
    async def get() -> str:
        """Get a page."""
        async with guarded_async_client(**options) as client:
            return (await client.get(url)).text

    call = {"name": "get", "args": {}, "id": "1", "type": "tool_call"}
    message: ToolMessage = await get.ainvoke(call)
    logged = [text for text in caplog.messages if hint in text]
    with guarded_client(**options) as client, pytest.raises(OutgoingRefused) as refused:
        client.get(url)

    assert message.status == "error"
    for content in (message.content, refused.value.message):
        assert content.endswith(words)
        assert not any(it in content for it in FOR_OPERATORS)
        assert len(content) < 800
    assert len(logged) == 1
    assert logged[0].startswith(message.content)
