"""Pass Sidecall's messages about approvals on to Slack, Teams or by e-mail.

    SIDECALL_WEBHOOK_SECRET=whsec_... SLACK_URL=https://hooks.slack.com/services/... \
        uvicorn --app-dir examples approval_relay:app --port 9000

Sidecall gets the same secret, and SIDECALL_APPROVAL_WEBHOOKS=http://127.0.0.1:9000/. The program takes `starlette`,
`uvicorn` and `httpx`, which are installed with Sidecall.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import os
import smtplib
import time
from collections.abc import Mapping
from email.message import EmailMessage
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

# Seconds by which a message's time may differ from ours: older ones may be sent by someone who has overheard them.
_FRESH = 300


def is_signed(headers: Mapping[str, str], body: bytes) -> bool:
    """Return whether Sidecall has sent this just now, as Standard Webhooks says it."""
    message_id, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > _FRESH:
        return False
    signed = f"{message_id}.{sent_at}.".encode() + body
    keys = [base64.b64decode(secret.removeprefix("whsec_")) for secret in os.environ["SIDECALL_WEBHOOK_SECRET"].split()]
    right = ["v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in keys]
    given = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(one, other) for one in right for other in given)


def describe(told: dict[str, Any]) -> str:
    """Say in a line what has happened."""
    approval = told["data"]
    name = approval.get("tool_call", {}).get("name", "a tool")
    if told["type"] == "approval.decided":
        return f"{approval['status']} by {approval.get('decided_by') or 'someone'}: {name}"
    what = "expires soon" if told["type"] == "approval.expiring" else "waits for a decision"
    return f"{name} {what}"


def list_details(told: dict[str, Any]) -> str:
    """Say who asks, and with which arguments, which the model has written: they are never markup."""
    approval = told["data"]
    args = json.dumps(approval.get("tool_call", {}).get("args"), ensure_ascii=False, indent=1)
    return f"{approval.get('description') or ''}\nfor {approval.get('requested_by', 'a caller')}, with {args}"[:2000]


def write_for_slack(told: dict[str, Any]) -> dict[str, Any]:
    """Write the body of an incoming webhook; what is escaped can mention nobody, and links nowhere."""

    def escape(text: str) -> str:
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")

    heading = {"type": "section", "text": {"type": "mrkdwn", "text": f"<{told['data']['url']}|Approval>"}}
    texts = [describe(told), list_details(told)]
    plain = [{"type": "section", "text": {"type": "plain_text", "text": text, "emoji": False}} for text in texts]
    return {"text": escape(describe(told)), "blocks": [*plain, heading]}


def write_for_teams(told: dict[str, Any]) -> dict[str, Any]:
    """Write the body for a workflow "When a Teams webhook request is received": a card of texts without markup."""
    texts = [{"type": "TextRun", "text": describe(told), "weight": "Bolder"}]
    details = [{"type": "TextRun", "text": list_details(told), "fontType": "Monospace"}]
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "RichTextBlock", "inlines": texts}, {"type": "RichTextBlock", "inlines": details}],
        "actions": [{"type": "Action.OpenUrl", "title": "Approval", "url": told["data"]["url"]}],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "contentUrl": None, "content": card}
    return {"type": "message", "attachments": [attachment]}


def write_mail(told: dict[str, Any]) -> EmailMessage:
    """Write an e-mail; a header has one line."""
    mail = EmailMessage()
    mail["Subject"] = " ".join(describe(told).split())
    mail["From"], mail["To"] = os.environ["MAIL_FROM"], os.environ["MAIL_TO"]
    mail.set_content(f"{describe(told)}\n{list_details(told)}\n\n{told['data']['url']}\n")
    return mail


def send_mail(told: dict[str, Any]) -> None:
    """Hand an e-mail to the server in MAIL_SERVER, such as `localhost:25`."""
    host, _, port = os.environ["MAIL_SERVER"].partition(":")
    with smtplib.SMTP(host, int(port or 25), timeout=10) as server:
        server.send_message(write_mail(told))


async def pass_on(told: dict[str, Any]) -> None:
    """Send to each place that is named in the environment."""
    async with httpx.AsyncClient(timeout=10) as client:
        for variable, write in (("SLACK_URL", write_for_slack), ("TEAMS_URL", write_for_teams)):
            if url := os.environ.get(variable):
                (await client.post(url, json=write(told))).raise_for_status()
    if os.environ.get("MAIL_SERVER"):
        await asyncio.to_thread(send_mail, told)


async def hear(request: Request) -> Response:
    """Answer 204 once a message is passed on; after any other answer Sidecall sends it again."""
    body = await request.body()
    if not is_signed(request.headers, body):
        return Response("It is not signed with SIDECALL_WEBHOOK_SECRET.", 401)
    try:
        await pass_on(json.loads(body))
    except (httpx.HTTPError, OSError) as error:  # The address may have a secret in it.
        return Response(f"It could not be passed on: {type(error).__name__}.", 502)
    return Response(status_code=204)


app = Starlette(routes=[Route("/", hear, methods=["POST"])])
