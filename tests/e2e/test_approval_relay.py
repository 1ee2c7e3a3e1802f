"""The relay in examples passes messages about approvals on, if Sidecall has signed them."""

import asyncio
import importlib.util
import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest

from sidecall.features.webhooks.signing import read_key, sign
from tests.features.webhooks.listening import SECRET, listen

URL = "https://tools.example.com/console/approvals/a1"
CALL = {"name": "refund", "args": {"to": "<!channel> & **all**"}, "id": "1", "type": "tool_call"}
DATA = {"id": "a1", "status": "pending", "requested_by": "agent", "tool_call": CALL, "url": URL}
ASKED = {"type": "approval.requested", "timestamp": "2026-03-14T09:00:00Z", "data": DATA}


@pytest.fixture
def relay(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Load it as it is."""
    spec = importlib.util.spec_from_file_location("approval_relay", Path("examples/approval_relay.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setenv("SIDECALL_WEBHOOK_SECRET", f"whsec_{'A' * 32} {SECRET}")
    return module


async def tell(relay: ModuleType, said: Any = ASKED, secret: str = SECRET, at: int | None = None) -> int:
    """Send it a message, and return the status of its answer."""
    body = json.dumps(said).encode()
    headers = sign([read_key(secret)], "msg_1", int(time.time()) if at is None else at, body)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=relay.app), base_url="http://relay") as client:
        return (await client.post("/", content=body, headers=headers)).status_code


@asynccontextmanager
async def receive_mail() -> AsyncIterator[tuple[int, list[str]]]:
    """Take mail as a server does; give its port, and the lines that it gets."""
    lines: list[str] = []

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        text = False
        writer.write(b"220 mail\r\n")
        async for raw in reader:
            line = raw.decode().rstrip("\r\n")
            lines.append(line)
            if text and line != ".":
                continue
            text = line.upper() == "DATA"
            writer.write(b"354 go on\r\n" if text else b"221 bye\r\n" if line.upper() == "QUIT" else b"250 fine\r\n")
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1], lines


async def test_each_place_gets_it_in_its_own_form(relay: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a model has written is never markup there."""
    async with listen(200) as slack, listen(202) as teams, receive_mail() as (port, mail):
        monkeypatch.setenv("SLACK_URL", f"{slack.host}/services/T/B/x")
        monkeypatch.setenv("TEAMS_URL", f"{teams.host}/workflows/y")
        monkeypatch.setenv("MAIL_SERVER", f"127.0.0.1:{port}")
        monkeypatch.setenv("MAIL_FROM", "sidecall@example.com")
        monkeypatch.setenv("MAIL_TO", "ada@example.com")
        assert await tell(relay) == 204

    [to_slack], [to_teams] = slack.heard, teams.heard
    texts = [block["text"] for block in to_slack.said["blocks"]]
    assert [text["type"] for text in texts] == ["plain_text", "plain_text", "mrkdwn"]
    assert (to_slack.said["text"], texts[2]["text"]) == ("refund waits for a decision", f"<{URL}|Approval>")
    assert "<!channel> & **all**" in texts[1]["text"]
    card = to_teams.said["attachments"][0]["content"]
    assert [part["type"] for part in card["body"]] == ["RichTextBlock", "RichTextBlock"]
    assert card["actions"] == [{"type": "Action.OpenUrl", "title": "Approval", "url": URL}]
    assert "Subject: refund waits for a decision" in mail
    assert {"To: ada@example.com", URL} <= set(mail)


@pytest.mark.parametrize(
    ("told", "text"),
    [
        (ASKED, "refund waits for a decision"),
        (ASKED | {"type": "approval.expiring"}, "refund expires soon"),
        (
            {"type": "approval.decided", "data": DATA | {"status": "rejected", "decided_by": "ada"}},
            "rejected by ada: refund",
        ),
        ({"type": "approval.requested", "data": {"id": "a1", "url": URL}}, "a tool waits for a decision"),
        (
            {"type": "approval.requested", "data": DATA | {"tool_call": CALL | {"name": "<!here>"}}},
            "&lt;!here&gt; waits for a decision",
        ),
    ],
)
def test_it_says_what_has_happened(relay: ModuleType, told: dict[str, Any], text: str) -> None:
    """In a line."""
    assert relay.write_for_slack(told)["text"] == text


async def test_what_sidecall_has_not_just_signed_is_refused(relay: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """With another secret, long ago, or not at all."""
    async with listen() as slack:
        monkeypatch.setenv("SLACK_URL", slack.host)
        other = await tell(relay, secret=f"whsec_{'B' * 32}")
        late = await tell(relay, at=int(time.time()) - 3600)
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app=relay.app), base_url="http://relay") as client:
            unsigned = (await client.post("/", json=ASKED)).status_code

    assert (other, late, unsigned, slack.heard) == (401, 401, 401, [])


async def test_what_could_not_be_passed_on_is_sent_again(relay: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer makes Sidecall do so."""
    async with listen(503) as slack:
        monkeypatch.setenv("SLACK_URL", slack.host)
        assert await tell(relay) == 502
    assert await tell(relay) == 502
