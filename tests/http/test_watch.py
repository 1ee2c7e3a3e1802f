"""Each request is counted by its route and status, and logged where that is wanted, no matter who refuses it."""

import logging
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from sidecall import ToolException, tool
from tests.kit.asgi import BOTH_WAYS
from tests.kit.callers.keys import write_keys
from tests.kit.clients import MakeClient
from tests.kit.tools import echo

pytestmark = BOTH_WAYS
CALL = {"name": "echo", "args": {"text": "hello"}, "id": "call_1"}
SOME_ID = "01a21f0a-900e-7338-9bcf-72fac278c2e2"
ASKED: list[tuple[str, str, dict[str, Any], str, int, str | None]] = [
    ("POST", "/tool_calls", {"json": CALL}, "/tool_calls", 200, None),
    ("POST", "/tool_calls", {"json": {**CALL, "name": "nobody"}}, "/tool_calls", 200, None),
    ("POST", "/tool_calls", {"json": {"x": 1}}, "/tool_calls", 422, "not-a-tool-call"),
    ("POST", "/tool_calls", {"content": "{", "headers": {"Content-Type": "application/json"}}, "/tool_calls", 400,
     "malformed-json"),
    ("POST", "/tool_calls", {"content": "{}", "headers": {"Content-Type": "text/plain"}}, "/tool_calls", 415,
     "unsupported-media-type"),
    ("POST", "/tool_calls/batch", {"json": [CALL, CALL]}, "/tool_calls/batch", 200, None),
    ("PUT", "/tool_calls", {"json": CALL}, "/tool_calls", 405, "method-not-allowed"),
    ("GET", "/tools", {}, "/tools", 200, None),
    ("GET", "/tools?format=none", {}, "/tools", 422, "invalid-parameter"),
    ("HEAD", "/tools", {}, "/tools", 200, None),
    ("GET", "/tools/echo", {}, "/tools/{name}", 200, None),
    ("GET", "/tools/nobody", {}, "/tools/{name}", 404, "unknown-tool"),
    ("GET", "/approvals/nothing", {}, "/approvals/{approval_id}", 404, "unknown-approval"),
    ("GET", "/tool_calls/nothing", {}, "/tool_calls/{call_id}", 404, "unknown-call"),
    ("GET", f"/tool_calls/{SOME_ID}", {}, "/tool_calls/{call_id}", 404, "unknown-call"),
    ("GET", f"/tool_calls/{SOME_ID}/events", {}, "/tool_calls/{call_id}/events", 404, "unknown-call"),
    ("POST", "/tool_calls/nothing/cancel", {}, "/tool_calls/{call_id}/cancel", 404, "unknown-call"),
    ("GET", "/tool_calls/nothing/else", {}, "none", 404, "not-found"),
    ("GET", "/nowhere/at/all", {}, "none", 404, "not-found"),
    ("GET", "/tools", {"headers": {"Host": "elsewhere.example"}}, "/tools", 421, "foreign-host"),
    ("GET", "/tools/echo", {"headers": {"Host": "elsewhere.example"}}, "/tools/{name}", 421, "foreign-host"),
]  # fmt: skip


async def count(client: httpx.AsyncClient) -> dict[tuple[str, str], float]:
    """Read how many requests were counted, by route and status."""
    text = (await client.get("/metrics")).text
    return {
        (sample.labels["route"], sample.labels["status"]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "sidecall_requests_total"
    }


def read_lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """Read what was logged of requests."""
    return [vars(it) for it in caplog.records if vars(it).get("event") == "request"]


@pytest.mark.parametrize(("method", "path", "options", "route", "status", "problem"), ASKED)
async def test_a_request_is_counted_and_logged_once(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture, method: str, path: str, options: dict[str, Any],
    route: str, status: int, problem: str | None,
) -> None:  # fmt: skip
    """Under the template of its path, never under what was sent in it."""
    caplog.set_level(logging.INFO, logger="sidecall")
    client = await make_client(echo, log_requests=True)

    answer = await client.request(method, path, **options)

    assert answer.status_code == status
    assert await count(client) == {(route, str(status)): 1}
    (line, _) = read_lines(caplog)  # The other one is of the scrape.
    assert (line["method"], line["route"], line["status"], line.get("problem")) == (method, route, status, problem)
    assert line["duration_ms"] >= 0


async def test_who_is_not_let_in_is_counted_too(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    """Of a caller who is known the line has the name; without a key it has none."""
    caplog.set_level(logging.INFO, logger="sidecall")
    keys = tmp_path / "keys.jsonl"
    ann = write_keys(keys, {"ann": ("tools:call",)})["ann"]
    client = await make_client(echo, auth=("api_key",), keys_file=keys, log_requests=True, metrics="open")

    await client.post("/tool_calls", json=CALL)
    await client.get("/tools/echo", headers={"Authorization": "Bearer wrong"})
    await client.get("/status", headers=ann)
    await client.post("/tool_calls", json=CALL, headers=ann)

    assert await count(client) == {
        ("/tool_calls", "401"): 1,
        ("/tools/{name}", "401"): 1,
        ("/status", "403"): 1,
        ("/tool_calls", "200"): 1,
    }
    lines = read_lines(caplog)[:4]
    assert [line.get("problem") for line in lines] == ["unauthenticated", "unauthenticated", "missing-scope", None]
    assert [line.get("caller") for line in lines] == [None, None, "ann", "ann"]


async def test_nothing_is_logged_unless_it_is_wanted(make_client: MakeClient, caplog: pytest.LogCaptureFixture) -> None:
    """Probes that are well are never logged: they come every few seconds."""
    caplog.set_level(logging.INFO, logger="sidecall")
    silent, talking = await make_client(echo), await make_client(echo, log_requests=True)

    for client in (silent, talking):
        await client.get("/nowhere")
        await client.get("/healthz")
        await client.get("/readyz")

    assert [line["route"] for line in read_lines(caplog)] == ["none"]


@pytest.mark.parametrize("raised", [ToolException, ValueError])
async def test_what_a_tool_says_is_not_logged(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture, raised: type[Exception]
) -> None:
    """Unless results are."""
    caplog.set_level(logging.INFO, logger="sidecall")

    @tool(handle_tool_error=True)
    async def find(customer: str) -> str:
        """Find a customer."""
        raise raised(f"there is no {customer}")

    client = await make_client(find, log_requests=True)
    answer = await client.post("/tools/find/call", json={"customer": "Jane Doe"})

    assert answer.status_code in (400, 500)
    (line,) = read_lines(caplog)
    assert line["problem"] in ("tool-error", "execution-error")
    assert "Jane Doe" not in str(line)


async def test_a_long_method_is_cut(make_client: MakeClient, caplog: pytest.LogCaptureFixture) -> None:
    """As ids are."""
    caplog.set_level(logging.INFO, logger="sidecall")
    client = await make_client(echo, log_requests=True)

    await client.request("M" * 1000, "/tools")

    (line,) = read_lines(caplog)
    assert line["method"] == "M" * 256 + "… 744 more characters"
