"""Calls that wait for a history which cannot be written are found all the same."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.features.history.past import add, call, list_ids, say
from tests.kit.clients import MakeClient


async def test_calls_that_cannot_be_written_are_found(make_client: MakeClient, tmp_path: Path) -> None:
    """In the list, by their ids and in sums, each once, beside those that were written before."""
    client = await make_client(say, add, store=f"sqlite:///{tmp_path / 'ledger.db'}")
    ids = [await call(client, "say", text="written"), await call(client, "add", a=1, b=1)]
    assert await list_ids(client) == ids[::-1]

    async def ask() -> list[Any]:
        assert (await client.get(f"/tool_calls/{ids[2]}")).json()["args"] == {"text": "waits"}
        totals = [(await client.get(f"/tool_calls/summary?by={part}")).json()["groups"] for part in ("hour", "name")]
        counts = [[group["calls"] for group in groups] for groups in totals]
        return [await list_ids(client, "limit=2"), await list_ids(client, "name=say&status=succeeded"), counts]

    with closing(sqlite3.connect(tmp_path / "ledger.history.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(2):
            ids.append(await call(client, "say", text="waits"))
        found = [await ask()]
        other.execute("ROLLBACK")
    async with asyncio.timeout(30):
        while (await client.get("/status")).json()["history"]["trouble"] is not None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    found.append(await ask())

    assert found == [[ids[::-1], [ids[3], ids[2], ids[0]], [[4], [3, 1]]]] * 2
