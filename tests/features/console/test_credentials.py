"""What each credential opens, page by page: nothing without one that holds, and of other tenants nothing at all."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from sidecall.features.access.api_keys import KeyFile, mint_key
from sidecall.features.console.pages import PAGES
from tests.features.console.console_tools import TOOLS
from tests.kit.clients import MakeClient

ALL = ("tools:call", "calls:read", "approvals:decide", "server:operate")
PAST = datetime.now(UTC) - timedelta(hours=1)
# What the names of pages stand for where they stand for anything.
NAMES = {"name": "refund", "id": "01890a5d-ac96-774b-bcce-b302099a8057"}
PATHS = tuple(page.path.format(**NAMES) for page in PAGES)


@pytest.fixture
def texts(tmp_path: Path) -> Mapping[str, str]:
    """Keys that hold, that do not hold any more, and of another tenant."""
    made = {
        "right": mint_key("ann", scopes=ALL),
        "expired": mint_key("ann", scopes=ALL, expires_at=PAST),
        "revoked": mint_key("ann", scopes=ALL),
        "other": mint_key("eve", tenant="others", scopes=ALL),
    }
    kept = [key.revoke() if name == "revoked" else key for name, (_, key) in made.items()]
    KeyFile(tmp_path / "keys.jsonl").change(lambda known: [*known, *kept])
    return {name: text for name, (text, _) in made.items()} | {"wrong": "sidecall_wrong", "none": ""}


async def _open(client: httpx.AsyncClient, path: str, headers: Mapping[str, str]) -> tuple[int, bool]:
    page = await client.get(f"/console/{path}", headers=headers)
    return page.status_code, 'name="key"' in page.text


@pytest.mark.parametrize("shown", ["none", "wrong", "expired", "revoked"])
async def test_no_page_opens_without_a_key_that_holds(
    make_client: MakeClient, texts: Mapping[str, str], tmp_path: Path, shown: str
) -> None:
    """Shown as a key or as a session; each asks for one."""
    client = await make_client(*TOOLS, auth=("api_key",), keys_file=tmp_path / "keys.jsonl")
    headers = [{"Authorization": f"Bearer {texts[shown]}"}, {"Cookie": f"sidecall={texts[shown]}"}]

    found = {path: [await _open(client, path, it) for it in headers] for path in PATHS}

    assert found == dict.fromkeys(PATHS, [(401, True)] * 2)


async def test_nothing_of_another_tenant_is_there(
    make_client: MakeClient, texts: Mapping[str, str], tmp_path: Path
) -> None:
    """Neither in lists nor by its address; the same addresses open for their own."""
    client = await make_client(*TOOLS, auth=("api_key",), keys_file=tmp_path / "keys.jsonl")
    own, other = ({"Authorization": f"Bearer {texts[name]}"} for name in ("right", "other"))
    chat = own | {"Sidecall-Conversation": "privatechat"}
    ran = {"name": "fail", "args": {"words": "privatewords"}}
    asks = {"name": "refund", "args": {"customer": "privatename", "cents": 5}}
    call = (await client.post("/tool_calls", json=ran, headers=chat)).json()["id"]
    approval = (await client.post("/tool_calls", json=asks, headers=chat)).json()["id"]
    single = (f"calls/{call}", f"approvals/{approval}", "conversations/privatechat")

    assert [(await client.get(f"/console/{path}", headers=own)).status_code for path in single] == [200] * 3
    for path in (*single, "calls", "approvals", "conversations", "audit", "health", "tools/fail", "tools/refund"):
        page = await client.get(f"/console/{path}", headers=other)
        assert (page.status_code, "private" in page.text.replace(path, "")) == (404 if path in single else 200, False)
