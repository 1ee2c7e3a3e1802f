"""What cannot be done just now is said as a problem, by each route of files and vector stores."""

import asyncio
from collections import Counter
from typing import Any

import httpx
import pytest

from sidecall.features.ledger.open_ledger import open_file_store
from sidecall.storage.database import Row
from sidecall.storage.statements import read_statements
from tests.kit.asgi import Peer, scope_of, sized
from tests.kit.clients import MakeClient
from tests.kit.faulty import FaultyDatabase
from tests.kit.waiting import until
from tests.tools import shipped

module = shipped.load("file_search")
FORM: dict[str, Any] = {"data": {"purpose": "user_data"}, "files": {"file": ("a.txt", b"Herons fish.")}}
# Each operation with what is sent; `{file}` and `{store}` are there.
OPERATIONS: dict[str, dict[str, Any]] = {
    "POST /files": FORM,
    "GET /files": {},
    "GET /files/{file}": {},
    "GET /files/{file}/content": {},
    "DELETE /files/{file}": {},
    "POST /vector_stores": {"json": {}},
    "GET /vector_stores": {},
    "GET /vector_stores/{store}": {},
    "DELETE /vector_stores/{store}": {},
    "POST /vector_stores/{store}": {"json": {"name": "b"}},
    "POST /vector_stores/{store}/search": {"json": {"query": "herons"}},
    "POST /vector_stores/{store}/files": {"json": {"file_id": "{file}"}},
    "GET /vector_stores/{store}/files": {},
    "GET /vector_stores/{store}/files/{file}": {},
    "DELETE /vector_stores/{store}/files/{file}": {},
}


class Meeting(FaultyDatabase):
    """A database in which two requests have made way for the same file before either puts it there.

    And in which nothing is found for a statement that is `stuck`, of which so many are `open`.
    """

    def __init__(self) -> None:
        super().__init__(open_file_store("memory://"))
        self.both: asyncio.Barrier | None = None
        self.stuck = ""
        self.open_reads = 0

    async def write(self, statement: str, *values: Any, size: int | None = None) -> Row | None:
        """Carry out a statement; who has made way waits for the other."""
        row = await super().write(statement, *values, size=size)
        if statement == "make_way" and self.both is not None:
            await self.both.wait()
        return row

    async def read(self, statement: str, *values: Any, where: str = "") -> list[Row]:
        """Find rows, unless the statement is stuck."""
        if statement != self.stuck:
            return await super().read(statement, *values, where=where)
        self.open_reads += 1
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            self.open_reads -= 1


@pytest.fixture
def database(monkeypatch: pytest.MonkeyPatch) -> Meeting:
    """Give the database in which the server keeps files."""
    made = Meeting()
    monkeypatch.setattr("sidecall.features.vector_stores.stores.open_file_store", lambda *_: made)
    return made


@pytest.fixture
async def server(database: Meeting, make_client: MakeClient) -> httpx.AsyncClient:
    """Give a client of a server that keeps files there."""
    return await make_client(module.file_search, toolkits=("file_search",))


async def _fill(server: httpx.AsyncClient) -> tuple[str, str]:
    file = (await server.post("/files", **FORM)).json()["id"]
    return file, (await server.post("/vector_stores", json={"file_ids": [file]})).json()["id"]


async def test_a_database_that_fails_is_told_of(database: Meeting, server: httpx.AsyncClient) -> None:
    """By every operation, which works as soon as the database does."""
    file, store = await _fill(server)

    async def ask(operation: str) -> httpx.Response:
        method, path = operation.format(file=file, store=store).split()
        sent = dict(OPERATIONS[operation])
        if sent.get("json", {}).get("file_id"):
            sent["json"] = {"file_id": file}
        return await server.request(method, path, **sent)

    database.before = Counter(dict.fromkeys(read_statements("sqlite"), 1000))
    refused = {operation: await ask(operation) for operation in OPERATIONS}
    database.before.clear()

    assert {name: it.status_code for name, it in refused.items()} == dict.fromkeys(OPERATIONS, 503)
    assert {it.headers["Content-Type"] for it in refused.values()} == {"application/problem+json"}
    assert all("Retry-After" in it.headers for it in refused.values())
    # Those that delete come last.
    again = {operation: await ask(operation) for operation in sorted(OPERATIONS, key=lambda it: it.startswith("DEL"))}
    assert {name: it.status_code for name, it in again.items() if not name.startswith("DEL")} == dict.fromkeys(
        (name for name in OPERATIONS if not name.startswith("DEL")), 200
    )


@pytest.mark.parametrize(("year", "statuses"), [(2025, [200, 200]), (2026, [200, 409])])
async def test_a_file_is_put_into_a_store_by_one_request_at_a_time(
    database: Meeting, server: httpx.AsyncClient, year: int, statuses: list[int]
) -> None:
    """The other is shown it, or told that it wants something else."""
    file, store = await _fill(server)
    database.both = asyncio.Barrier(2)
    wanted = [{"file_id": file, "attributes": {"year": number}} for number in (2025, year)]
    asked = (server.post(f"/vector_stores/{store}/files", json=one) for one in wanted)

    answers = sorted(await asyncio.gather(*asked), key=lambda it: it.status_code)

    assert [it.status_code for it in answers] == statuses
    if year == 2025:
        assert [it.json()["id"] for it in answers] == [file, file]
    else:
        assert answers[1].json()["title"] == "Another request works on this file just now."
    assert (await server.get(f"/vector_stores/{store}")).json()["file_counts"]["completed"] == 1


async def test_a_tenant_without_room_is_not_told_of_a_workspace(make_client: MakeClient) -> None:
    """The title fits all that it is said of."""
    client = await make_client(module.file_search, toolkits=("file_search",), file_search_max_files=1)

    answers = [await client.post("/files", **FORM) for _ in range(2)]

    assert [answer.status_code for answer in answers] == [200, 429]
    assert answers[1].json()["title"] == "There is no room for more files or vector stores."


async def test_a_search_ends_with_its_client(database: Meeting, server: httpx.AsyncClient) -> None:
    """It would hold a place for those who wait for an answer."""
    _, store = await _fill(server)
    database.stuck = "search_pieces"
    body = b'{"query": "herons"}'
    peer, app = Peer((body,)), server._transport.app  # type: ignore[attr-defined]
    scope = scope_of("POST", f"/vector_stores/{store}/search", sized(body))
    asking = asyncio.create_task(app(scope, peer.receive, peer.send))
    await until(lambda: database.open_reads == 1)
    peer.gone.set()
    await until(lambda: database.open_reads == 0)
    await asking

    assert (await server.get(f"/vector_stores/{store}")).status_code == 200
