"""Secrets that are planted everywhere come out nowhere."""

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from tests.kit.callers import canaries
from tests.kit.callers.canaries import ARGUMENT, HEADER, OWN, SERVER, TOOLS, UNRELATED, answer, question
from tests.kit.callers.keys import write_keys
from tests.kit.callers.secrets import SECRETS_KEY
from tests.kit.collector import Collector, collecting
from tests.kit.forked import origin
from tests.kit.servers import Server, end, start

__all__ = ["origin"]


@contextmanager
def _serving(folder: Path, collector: Collector, log_format: str) -> Iterator[Server]:
    """Run a server with all that could tell, its files in a folder of their own."""
    environment = {
        "CANARY_KEY": SERVER,
        "UNRELATED_API_KEY": UNRELATED,
        "SIDECALL_AUTH": "api_key",
        "SIDECALL_KEYS_FILE": str(folder / "keys.jsonl"),
        "SIDECALL_SECRETS_KEY": SECRETS_KEY,
        "SIDECALL_STORE": f"sqlite:///{folder / 'ledger.db'}",
        # Of which a busy machine starts one in time.
        "SIDECALL_PROCESSES": "1",
        "SIDECALL_TOOL_TIMEOUT": "100",
        "SIDECALL_LOG_CALLS": "true",
        "SIDECALL_LOG_ARGS": "true",
        "SIDECALL_LOG_FORMAT": log_format,
        "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url,
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
    }
    server = start(folder.parent, "--tools", str(Path(canaries.__file__)), environment=environment)
    try:
        yield server
    finally:
        end(server.process)


def _find(planted: tuple[str, ...], text: str) -> list[str]:
    """Return what of it stands in a text, in any spelling."""
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


def _say_all(client: httpx.Client) -> str:
    """Do all that a client can, and return all that it is answered."""
    said = [client.put("/secrets/OWN_KEY", json={"value": OWN}).text]
    for offered in TOOLS:
        args = {"password": ARGUMENT} if offered is answer else {}
        call = {"name": offered.name, "args": args, "id": f"call_{offered.name}", "type": "tool_call"}
        for headers in ({}, {"Accept": "text/event-stream"}, {"Prefer": "respond-async, wait=20"}):
            if headers and offered is question:
                continue
            response = client.post("/tool_calls", json=call, headers=headers)
            said.append(response.text)
            if "Location" in response.headers and offered is not question:
                place = response.headers["Location"]
                said.append(client.get(place, headers={"Prefer": "wait=20"}).text)
                said.append(client.get(f"{place}/events").text)
    for path in ("/tool_calls?limit=1000", "/tool_calls/export", "/approvals", "/audit", "/metrics", "/secrets"):
        said.append(client.get(path).text)
    return "\n".join(said)


@pytest.mark.parametrize("log_format", ["json", "text"])
def test_no_canary_comes_out(tmp_path: Path, origin: None, log_format: str) -> None:
    """Neither in answers, events, the log, spans and metrics, nor in any file."""
    folder = tmp_path / "files"
    folder.mkdir()
    headers = write_keys(folder / "keys.jsonl", {"ada": ("*",)})["ada"] | {"X-Token": HEADER}
    key = headers["Authorization"].partition(" ")[2]
    planted = (SERVER, OWN, HEADER, UNRELATED, key, SECRETS_KEY)
    # A remembered call is kept with its headers, since its tool gets them when it runs.
    in_files = tuple(secret for secret in planted if secret != HEADER)
    with collecting() as collector:
        with (
            _serving(folder, collector, log_format) as server,
            httpx.Client(base_url=server.url, headers=headers, trust_env=False, timeout=60) as client,
        ):
            said = _say_all(client)
        spans = b"".join(collector.bodies).decode(errors="replace")
        names = set(collector.by_name)
    files = _read_files(folder)

    assert _find(planted, said) == []
    assert _find((*planted, ARGUMENT), server.log) == []
    assert _find((*planted, ARGUMENT), spans) == []
    assert {name: found for name, text in files.items() if (found := _find(in_files, text))} == {}
    # What is looked through is there.
    assert said.count("[redacted]") > 50
    server.wait_for("about to fail with [redacted]")
    server.wait_for("in a process with [redacted]")
    assert "execute_tool answer" in names
    assert spans.count("[redacted]") > 50
    assert {"ledger.db", "ledger.history.db"} <= set(files)
    assert "PATH" in said
