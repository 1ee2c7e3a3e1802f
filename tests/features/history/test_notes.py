"""What was ignored of arguments and what was mended stands in the history of plain calls, too."""

import json
from typing import Annotated, Any

import pytest

from sidecall import InjectedToolArg, Secret, ToolException, tool
from sidecall.features.history.redactor import CallRedactor
from sidecall.features.telemetry.redact import Redaction
from tests.kit.clients import MakeClient

STORES = pytest.mark.parametrize("store", ["memory://", "sqlite"])


@tool
async def add(count: int, sizes: list[int], user: Annotated[str, InjectedToolArg] = "nobody") -> int:
    """Add.

    Args:
        count: One.
        sizes: Others.
    """
    return count + sum(sizes)


@tool
async def fail(count: int) -> int:
    """Fail.

    Args:
        count: What.
    """
    raise ToolException("No.")


@tool
async def unlock(count: int, key: Annotated[str, Secret("KEY")]) -> int:
    """Use a secret.

    Args:
        count: What.
    """
    return count + len(key)


CALLS: list[Any] = [
    pytest.param("add", {"count": 1, "sizes": [2]}, id="nothing"),
    pytest.param("add", {"count": 1, "sizes": "[2]"}, id="mended"),
    pytest.param("add", {"Count": 1, "sizes": [2]}, id="other letters"),
    pytest.param("add", {"count": 1, "sizes": [2], "user": "root"}, id="forged"),
    pytest.param("add", {"count": 1, "sizes": [2], "zzz": 1}, id="unknown"),
    pytest.param("add", '```json\n{"count": 1, "sizes": [2], "zzz": 1}\n```', id="text"),
    pytest.param("fail", {"Count": 1, "zzz": 1}, id="failing"),
    pytest.param("unlock", {"Count": 1, "zzz": 1}, id="with a secret"),
]


async def _ask(make_client: MakeClient, store: str, tmp_path: Any, call: Any) -> tuple[Any, Any, Any]:
    """Call; return what its answer, its entry and the one of a list say of it."""
    where = f"sqlite:///{tmp_path}/ledger.db" if store == "sqlite" else store
    client = await make_client(add, fail, unlock, store=where)
    answer = (await client.post("/tool_calls?format=langchain", json=call)).json()
    entry = (await client.get(f"/tool_calls/{answer['id']}")).json()
    said, kept = (
        {name: metadata.get(name, []) for name in ("ignored_args", "repaired")}
        for metadata in (answer["response_metadata"], entry["message"]["response_metadata"])
    )
    return said, kept, entry


@STORES
@pytest.mark.parametrize(("name", "args"), CALLS)
async def test_the_history_says_what_the_answer_said(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, store: str, name: str, args: Any
) -> None:
    """Word by word."""
    monkeypatch.setenv("KEY", "a-secret-of-some-length")
    text = args if isinstance(args, str) else json.dumps(args)
    call = {"type": "function_call", "name": name, "arguments": text, "call_id": "1"}

    answered, kept, _ = await _ask(make_client, store, tmp_path, call)

    assert kept == answered


async def test_secrets_are_hidden_there(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    """A model may have sent one as the name of an argument."""
    monkeypatch.setenv("KEY", "a-secret-of-some-length")

    _, kept, entry = await _ask(
        make_client, "sqlite", tmp_path, {"name": "unlock", "args": {"count": 1, "a-secret-of-some-length": 1}}
    )

    assert len(kept["ignored_args"]) == 1
    assert "a-secret-of-some-length" not in json.dumps(entry)


def test_many_notes_are_cut() -> None:
    """What is kept of them has the bound of arguments."""
    notes = [f"{number:03d}{'z' * 197}" for number in range(60)]

    kept = CallRedactor(Redaction(), 4096).show_notes(notes)

    assert kept == notes[: len(kept)]
    assert 18 <= len(kept) <= 20
