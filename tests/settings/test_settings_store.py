"""The setting `store` has an effect: what is kept is kept there."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from sidecall import tool
from sidecall.kernel.core.overload import StoreUnfit
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.clients import MakeClient

CALL = {"type": "tool_call", "name": "write", "args": {"number": 1}, "id": "call_1"}


@tool(requires_approval=lambda args: args["number"] == 1)
async def write(number: int) -> str:
    """Write a long text.

    Args:
        number: Of the call.
    """
    return str(number) * 1000


@pytest.mark.parametrize("is_file", [True, False])
async def test_a_call_waits_is_decided_and_answered_wherever_it_is_kept(
    make_client: MakeClient, tmp_path: Path, is_file: bool
) -> None:
    """The contract is the same, and by default no file is written."""
    path = tmp_path / "ledger.db"
    client = await make_client(write, **({"store": f"sqlite:///{path}"} if is_file else {}))

    waiting = await client.post("/tool_calls", json=CALL)
    listed = (await client.get("/approvals")).json()
    decided = await client.post(f"/approvals/{waiting.json()['id']}", json={"decision": "approve"})
    again = await client.post("/tool_calls", json=CALL)
    conflict = await client.post(f"/approvals/{waiting.json()['id']}", json={"decision": "approve"})

    assert [it.status_code for it in (waiting, decided, again, conflict)] == [202, 200, 200, 409]
    assert [approval["id"] for approval in listed] == [waiting.json()["id"]]
    assert again.json() == decided.json()["message"]
    assert again.json()["content"] == "1" * 1000
    assert path.exists() == is_file


async def test_the_whole_of_a_cut_result_is_kept_there(make_client: MakeClient, tmp_path: Path) -> None:
    """Under the address that the answer names."""
    client = await make_client(write, store=f"sqlite:///{tmp_path / 'ledger.db'}", max_content_bytes=200)

    message = (await client.post("/tool_calls", json={**CALL, "args": {"number": 2}})).json()
    whole = await client.get(message["response_metadata"]["artifact_url"])

    assert len(message["content"].encode()) <= 200
    assert whole.text == "2" * 1000


async def test_what_is_no_store_stops_the_start() -> None:
    """Before anything is served."""
    with pytest.raises(StoreUnfit, match="names no kind of store"):
        create_app(Settings(store="elsewhere"))


@pytest.mark.parametrize(
    "name", [name for name, field in Settings.model_fields.items() if field.annotation in (int, int | None)]
)
def test_no_number_is_larger_than_a_database_takes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the start, or a call, would end in a traceback."""
    monkeypatch.setenv(f"SIDECALL_{name.upper()}", "99999999999999999999")

    with pytest.raises(ValidationError, match=r"write 1000000000000000 at most|less than or equal to \d{1,7}\b"):
        Settings()
