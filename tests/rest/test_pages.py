"""Pages run nothing that is not theirs, and are served as the operator wants it."""

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

from tests.kit.callers.keys import write_keys
from tests.kit.clients import MakeClient

DOCS = ["/docs", "/openapi.json", "/docs/assets/swagger-ui.css"]
SAFE = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@pytest.mark.parametrize("path", ["/docs", "/docs/assets/swagger-ui-bundle.js"])
async def test_a_page_has_the_headers_that_keep_it_safe(make_client: MakeClient, path: str) -> None:
    """And what belongs to it, too."""
    response = await (await make_client()).get(path)

    assert {name: response.headers[name] for name in SAFE} == SAFE


async def test_the_page_runs_its_own_scripts_only(make_client: MakeClient) -> None:
    """Those of this server, and the one that stands in it, by its hash."""
    response = await (await make_client()).get("/docs")
    [script] = re.findall(r"<script>(.*?)</script>", response.text, re.DOTALL)
    told = dict(part.split(" ", 1) for part in response.headers["Content-Security-Policy"].split("; "))

    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert told == {
        "default-src": "'none'",
        "script-src": f"'self' 'sha256-{digest}'",
        "style-src": "'self' 'unsafe-inline'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
    }


@pytest.mark.parametrize(
    ("settings", "missing"),
    [({}, []), ({"docs": False}, DOCS), ({"metrics": "off"}, ["/metrics"]), ({"metrics": "open"}, [])],
)
async def test_each_page_can_be_left_out(make_client: MakeClient, settings: dict[str, Any], missing: list[str]) -> None:
    """The explanation and the numbers, each by itself; all else goes on."""
    client = await make_client(**settings)

    statuses = {path: (await client.get(path)).status_code for path in (*DOCS, "/metrics", "/tools")}

    assert [path for path, status in statuses.items() if status == 404] == missing


@pytest.mark.parametrize(("mode", "status"), [("on", 401), ("open", 200), ("off", 401)])
async def test_who_reads_the_metrics(make_client: MakeClient, tmp_path: Path, mode: str, status: int) -> None:
    """Where callers prove who they are: those with the scope, or everybody, or nobody."""
    keys = write_keys(tmp_path / "keys", {"operator": ("server:operate",)})
    client = await make_client(auth="api_key", keys_file=tmp_path / "keys", metrics=mode)

    read = await client.get("/metrics", headers=keys["operator"])

    assert (await client.get("/metrics")).status_code == status
    assert read.status_code == (404 if mode == "off" else 200)
