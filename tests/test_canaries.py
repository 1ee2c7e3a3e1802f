"""Secrets that are planted everywhere come out nowhere."""

import base64
import io
import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter, SpanExportResult

from sidecall import ApprovalRequired, Cache, Secret, ToolContext, ToolException, tool
from sidecall.auth.key_file import KeyFile
from sidecall.auth.keys import mint_key
from sidecall.telemetry.logs import make_formatter
from sidecall.telemetry.spans import Spans
from tests.kit.callers.secrets import SECRETS_KEY
from tests.kit.clients import MakeClient

SERVER = "canary/server+4711&more"
OWN = 'canary"own"\\8152 ä'
ARGUMENT = "canary-argument-2342"
HEADER = "canary-header-9001"
UNRELATED = "canary-unrelated-1234"
Key = Annotated[str, Secret("CANARY_KEY")]
OwnKey = Annotated[str, Secret("OWN_KEY", of="caller")]


def spell_all(*secrets: str) -> dict[str, Any]:
    """Write secrets in every way that tools usually do."""
    return {
        "plain": list(secrets),
        "json": json.dumps(secrets),
        "url": [f"https://x.example/?key={quote(secret, safe='')}" for secret in secrets],
        "basic": [base64.b64encode(f"user:{secret}".encode()).decode() for secret in secrets],
        "inside": [f"Bearer {secret}." for secret in secrets],
        **dict.fromkeys(secrets, "as a name"),
    }


@tool(response_format="content_and_artifact")
async def answer(key: Key, own: OwnKey, password: str = "") -> tuple[str, Any]:
    """Answer with all that it has.

    Args:
        password: A secret of the model's.
    """
    logging.getLogger("elsewhere").warning("asked with %s", key, extra={"headers": {"x": own}})
    return json.dumps(spell_all(key, own)), spell_all(key, own)


@tool
async def fail(key: Key, own: OwnKey, context: ToolContext) -> str:
    """Fail with all that it has."""
    context.log.error("about to fail with %s", own)
    try:
        raise KeyError(own)
    except KeyError as error:
        raise ValueError(f"no answer for {key}: {spell_all(key, own)}") from error


@tool
async def complain(key: Key, own: OwnKey) -> str:
    """Tell the model all that it has."""
    raise ToolException(f"refused {key} and {own}: {spell_all(key, own)}")


@tool(handle_tool_error=None)
async def let_through(key: Key, own: OwnKey) -> str:
    """Tell the program all that it has."""
    raise ToolException(f"refused {key} and {own}: {spell_all(key, own)}")


@tool
async def question(key: Key, own: OwnKey) -> str:
    """Ask a person with all that it has."""
    raise ApprovalRequired(f"May I use {key}?", preview=spell_all(key, own), payload=spell_all(key, own))


@tool
async def stream(key: Key, own: OwnKey, context: ToolContext) -> Any:
    """Say it in pieces."""
    await context.progress(1, 2, f"with {key} and {own}")
    for sign in f"first {key} then {own} done":
        yield sign


@tool(executor="process")
def apart(key: Key, own: OwnKey, context: ToolContext) -> Any:
    """Answer from a process."""
    context.log.warning("in a process with %s", key)
    return spell_all(key, own)


@tool(executor="process")
def look_around() -> dict[str, str]:
    """Return the environment of a tool's process."""
    return dict(os.environ)


@tool(cache=Cache(ttl=60), annotations={"read_only": True, "idempotent": True})
async def keep(key: Key, own: OwnKey) -> Any:
    """Answer twice."""
    return spell_all(key, own)


TOOLS = (answer, fail, complain, let_through, question, stream, apart, look_around, keep)


class Kept(SpanExporter):
    """Keeps spans as JSON."""

    def __init__(self) -> None:
        self.spans: list[str] = []

    def export(self, spans: Any) -> SpanExportResult:
        """Keep them."""
        self.spans += [ReadableSpan.to_json(span) for span in spans]
        return SpanExportResult.SUCCESS


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Give all that is logged, as JSON and as text."""
    out = io.StringIO()
    handlers = [logging.StreamHandler(out) for _ in range(2)]
    for handler, as_json in zip(handlers, (True, False), strict=True):
        handler.setFormatter(make_formatter(as_json=as_json))
        logging.getLogger().addHandler(handler)
    yield out
    for handler in handlers:
        logging.getLogger().removeHandler(handler)
    logging.captureWarnings(False)


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Kept:
    """Give the spans of the server, with arguments and results."""
    kept, provider = Kept(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(kept))
    monkeypatch.setattr("sidecall.observation.open_tracing", lambda _mode, redaction: Spans(provider, redaction))
    return kept


@pytest.fixture
async def client(
    make_client: MakeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log: Any, spans: Any
) -> httpx.AsyncClient:
    """Give a client of a server with all that could tell."""
    monkeypatch.setenv("CANARY_KEY", SERVER)
    monkeypatch.setenv("UNRELATED_API_KEY", UNRELATED)
    text, kept = mint_key("ada", scopes=("*",))
    KeyFile(tmp_path / "keys.jsonl").change(lambda _: [kept])
    client = await make_client(
        *TOOLS,
        auth=("api_key",),
        keys_file=tmp_path / "keys.jsonl",
        secrets_key=SECRETS_KEY,
        store=f"sqlite:///{tmp_path / 'ledger.db'}",
        log_calls=True,
        log_args=True,
        otel="off",
    )
    client.headers.update({"Authorization": f"Bearer {text}", "X-Token": HEADER})
    client.key = text  # type: ignore[attr-defined]
    return client


def _find(planted: tuple[str, ...], text: str) -> list[str]:
    """Return what of it stands in a text, in whatever spelling."""
    low = text.lower()
    spelled = {
        spelling
        for secret in planted
        for spelling in (
            secret,
            json.dumps(secret)[1:-1],
            repr(secret)[1:-1],
            quote(secret, safe=""),
            base64.b64encode(secret.encode()).decode()[:-4],
            base64.b64encode(f"user:{secret}".encode()).decode()[8:-4],
            secret.encode().hex(),
            json.dumps(json.dumps(secret)[1:-1])[1:-1],
        )
    }
    return [spelling for spelling in spelled if spelling.lower() in low]


def _read_files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_bytes().decode("latin-1") for path in folder.rglob("*") if path.is_file()}


async def _say_all(client: httpx.AsyncClient) -> str:
    """Do all that a client can, and return all that it is answered."""
    said = [(await client.put("/secrets/OWN_KEY", json={"value": OWN})).text]
    for offered in TOOLS:
        args = {"password": ARGUMENT} if offered is answer else {}
        call = {"name": offered.name, "args": args, "id": f"call_{offered.name}", "type": "tool_call"}
        for headers in ({}, {"Accept": "text/event-stream"}, {"Prefer": "respond-async, wait=20"}):
            if headers and offered is question:
                continue
            response = await client.post("/tool_calls", json=call, headers=headers)
            said.append(response.text)
            if "Location" in response.headers and offered is not question:
                place = response.headers["Location"]
                said.append((await client.get(place, headers={"Prefer": "wait=20"})).text)
                said.append((await client.get(f"{place}/events")).text)
    for path in ("/tool_calls?limit=1000", "/tool_calls/export", "/approvals", "/audit", "/metrics", "/secrets"):
        said.append((await client.get(path)).text)
    return "\n".join(said)


async def test_no_canary_comes_out(client: httpx.AsyncClient, tmp_path: Path, log: io.StringIO, spans: Kept) -> None:
    """Neither in answers, events, the log, spans and metrics, nor in any file."""
    planted = (SERVER, OWN, HEADER, UNRELATED, client.key, SECRETS_KEY)  # type: ignore[attr-defined]
    # A remembered call is kept with its headers, since its tool gets them when it runs.
    in_files = tuple(secret for secret in planted if secret != HEADER)
    said = await _say_all(client)
    await client.aclose()
    files = _read_files(tmp_path)

    assert _find(planted, said) == []
    assert _find((*planted, ARGUMENT), log.getvalue()) == []
    assert _find((*planted, ARGUMENT), "\n".join(spans.spans)) == []
    assert {name: found for name, text in files.items() if (found := _find(in_files, text))} == {}
    # What is looked through is there.
    assert said.count("[redacted]") > 50
    assert "about to fail with [redacted]" in log.getvalue()
    assert "in a process with [redacted]" in log.getvalue()
    assert "execute_tool answer" in "".join(spans.spans)
    assert {"ledger.db", "ledger.history.db"} <= set(files)
    assert "PATH" in said
