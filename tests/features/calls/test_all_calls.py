"""Remembered and ended calls are one list, of which nothing is missing and nothing comes twice."""

import asyncio
import json

import pytest

from sidecall.features.calls.all_calls import join_pages
from sidecall.kernel.ports.call_entry import CallEntry, CallPage, to_datetime
from tests.features.history.past import call, say
from tests.kit.clients import MakeClient
from tests.kit.remembered import ASYNC, send


def make_page(ids: str, cursor: str | None = None, kind: str | None = None) -> CallPage:
    """Make a page of calls whose ids have one letter."""
    began = to_datetime(0)
    entries = [
        CallEntry(
            id=letter,
            name="say",
            tool_call_id="1",
            status="succeeded",
            kind=kind,
            caller="ann",
            tenant="default",
            is_durable=False,
            attempt=1,
            created_at=began,
        )
        for letter in ids
    ]
    return CallPage(entries, cursor)


@pytest.mark.parametrize(
    ("remembered", "past", "expected"),
    [
        (make_page(""), make_page(""), ("", None)),
        (make_page("ec"), make_page("db"), ("edc", "c")),
        (make_page("ec"), make_page("d"), ("edc", None)),
        (make_page("edc", "c"), make_page("ba"), ("edc", "c")),
        (make_page("ba"), make_page("edc", "c"), ("edc", "c")),
        # Calls of the history that were found, and forgotten before they were read.
        (make_page("ba"), make_page("", "c"), ("", "c")),
        (make_page("da"), make_page("e", "c"), ("ed", "c")),
        (make_page("a"), make_page("", "b"), ("", "b")),
        # Known to both.
        (make_page("ec"), make_page("edb"), ("edc", "c")),
    ],
)
def test_two_pages_make_one(remembered: CallPage, past: CallPage, expected: tuple[str, str | None]) -> None:
    """No further than both reach."""
    page = join_pages(remembered, past, 3)

    assert ("".join(entry.id for entry in page.calls), page.cursor) == expected


def test_what_is_remembered_of_a_call_counts() -> None:
    """Where both know it."""
    page = join_pages(make_page("b", kind="denied"), make_page("cb"), 3)

    assert [entry.kind for entry in page.calls] == [None, "denied"]


async def test_an_export_amid_calls_has_each_call_once(make_client: MakeClient) -> None:
    """All that had ended before, and it ends though calls go on."""
    client = await make_client(say, drain_timeout=0)
    before = [await call(client, "say", text=str(number)) for number in range(70)]
    before.append((await send(client, "say", headers={**ASYNC, "Prefer": "wait=10"}, text="kept")).json()["id"])
    is_over = asyncio.Event()

    async def go_on() -> None:
        while not is_over.is_set():
            await call(client, "say", text="meanwhile")
            await send(client, "say", headers=ASYNC, text="meanwhile")

    going = asyncio.create_task(go_on())
    lines = (await client.get("/tool_calls/export")).text.splitlines()
    is_over.set()
    await going

    ids = [json.loads(line)["id"] for line in lines]
    assert ids == sorted(set(ids), reverse=True)
    assert set(before) <= set(ids)


async def test_remembered_calls_have_their_tools_tags(make_client: MakeClient) -> None:
    """As others have them, when they are accepted, listed, waited for and written out."""
    client = await make_client(say, drain_timeout=0)
    await call(client, "say", text="plain")

    accepted = await send(client, "say", headers=ASYNC, text="kept")
    shown = await client.get(accepted.headers["Location"], headers={"Prefer": "wait=10"})
    listed = (await client.get("/tool_calls?tag=speech")).json()
    lines = (await client.get("/tool_calls/export")).text.splitlines()

    assert [accepted.json()["tags"], shown.json()["tags"]] == [["speech"], ["speech"]]
    assert [entry["tags"] for entry in listed] == [["speech"], ["speech"]]
    assert [json.loads(line)["tags"] for line in lines] == [["speech"], ["speech"]]
