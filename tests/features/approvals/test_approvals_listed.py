"""Lists of approvals come in pages, without what is large, and what waits takes so many bytes."""

from typing import Any

import httpx
import pytest

from sidecall import tool
from tests.kit.clients import MakeClient

APPROVE = {"decision": "approve"}


@tool(requires_approval=True)
async def sign(text: str, times: int = 1) -> str:
    """Sign a text.

    Args:
        text: What to sign.
        times: How often.
    """
    return text * times


async def _ask(client: httpx.AsyncClient, id: str = "1", **args: Any) -> httpx.Response:
    return await client.post("/tool_calls", json={"name": "sign", "args": args or {"text": "x"}, "id": id})


async def test_a_list_is_read_page_by_page(make_client: MakeClient) -> None:
    """`Link` leads from each to the next, with the same query; the last has none."""
    client = await make_client(sign)
    for number in "1234567":
        await _ask(client, number)
    await client.post((await _ask(client, "2")).headers["Location"], json=APPROVE)

    pages, address = [], "/approvals?status=pending&limit=3"
    while address:
        page = await client.get(address)
        pages.append([approval["tool_call"]["id"] for approval in page.json()])
        address = page.links.get("next", {}).get("url", "")

    assert pages == [["1", "3", "4"], ["5", "6", "7"]]


async def test_the_link_of_a_page_is_a_path(make_client: MakeClient) -> None:
    """As `Location` is, no matter what name the client knows the server by."""
    client = await make_client(sign)
    for number in "12":
        await _ask(client, number)

    links = [(await client.get(f"/approvals?limit={limit}")).headers.get("Link") for limit in (1, 2)]

    assert links == ['</approvals?limit=1&cursor=1>; rel="next"', None]


@pytest.mark.parametrize(
    ("path", "query"),
    [
        *((path, query) for path in ("/approvals", "/approvals/rules", "/tool_calls") for query in ("nope", "-1", "")),
        ("/tool_calls", "1"),
    ],
)
async def test_a_cursor_that_no_page_gave_is_told_where_it_comes_from(
    make_client: MakeClient, path: str, query: str
) -> None:
    """Rather than which pattern it should match."""
    client = await make_client()

    answer = (await client.get(f"{path}?cursor={query}")).json()

    assert answer["detail"].startswith("cursor: Take it from the `Link` of the page before")


@pytest.mark.parametrize("query", ["limit=0", "limit=1001", "limit=x", "cursor=nope", "cursor=-1", "cursor="])
async def test_a_page_that_cannot_be_is_refused(make_client: MakeClient, query: str) -> None:
    """With the name of the parameter."""
    client = await make_client(sign)

    response = await client.get(f"/approvals?{query}")

    assert (response.status_code, response.json()["type"]) == (422, "urn:sidecall:problem:invalid-parameter")
    assert response.json()["detail"].startswith(f"{query.partition('=')[0]}: ")


async def test_large_arguments_and_answers_are_not_listed(make_client: MakeClient) -> None:
    """But how large they are; the approval itself has them."""
    client = await make_client(sign)
    place = (await _ask(client, text="x" * 10_000)).headers["Location"]
    await client.post(place, json=APPROVE)
    await _ask(client, "2", text="short")

    large, small = (await client.get("/approvals")).json()
    whole = (await client.get(place)).json()

    assert (large["tool_call"]["args"], large["args_bytes"], large["message"]) == (None, 10011, None)
    assert large["message_bytes"] > 10_000
    assert (small["tool_call"]["args"], small["args_bytes"]) == ({"text": "short"}, 16)
    assert (small["message"], small["message_bytes"]) == (None, None)
    assert whole["tool_call"]["args"] == {"text": "x" * 10_000}
    assert whole["message"]["content"] == "x" * 10_000


@pytest.mark.parametrize(("most", "status"), [(12_000, 503), (40_000, 202)])
async def test_what_waits_may_take_so_many_bytes(make_client: MakeClient, most: int, status: int) -> None:
    """The setting `max_waiting_bytes`."""
    client = await make_client(sign, max_waiting_bytes=most)

    refused = await _ask(client, text="x" * 10_000)

    assert refused.status_code == status
    if status == 503:
        assert (refused.json()["type"], refused.headers["Retry-After"]) == (
            "urn:sidecall:problem:too-many-approvals",
            "60",
        )
        assert refused.json()["detail"] == (
            "The approvals that this server keeps take all the bytes that it has for them "
            "(SIDECALL_MAX_WAITING_BYTES), so it takes no more."
        )


async def test_in_a_batch_a_call_without_room_to_wait_is_answered_in_its_place(make_client: MakeClient) -> None:
    """As one that is over the number of approvals."""
    client = await make_client(sign, max_waiting_bytes=12_000)
    calls = [{"name": "sign", "args": {"text": "x" * size}, "id": "1"} for size in (10_000, 10)]

    large, small = (await client.post("/tool_calls/batch", json=calls)).json()
    kinds = [answer["response_metadata"]["error"]["kind"] for answer in (large, small)]

    assert kinds == ["overloaded", "approval_required"]
    assert large["response_metadata"]["error"]["retry_after_ms"] == 60_000


async def test_an_answer_without_room_is_told_to_the_person_only(make_client: MakeClient) -> None:
    """The agent learns that the call was answered, and the model that it may have had effects."""
    client = await make_client(sign, max_waiting_bytes=20_000)
    place = (await _ask(client, text="xx", times=10_000)).headers["Location"]

    decided = (await client.post(place, json=APPROVE)).json()
    polled = (await client.get(place)).json()

    assert decided["message"]["content"] == "x" * 20_000
    assert (polled["status"], polled["message"]["response_metadata"]["error"]["kind"]) == ("approved", "output_error")
    assert polled["message"]["content"] == (
        "Error: the call was answered, but its answer was too large to be kept; it may have had effects."
    )


async def test_an_edit_without_room_decides_nothing(make_client: MakeClient) -> None:
    """503, and the approval is as it was."""
    client = await make_client(sign, max_waiting_bytes=20_000)
    place = (await _ask(client)).headers["Location"]

    refused = await client.post(place, json={**APPROVE, "args": {"text": "x" * 20_000}})
    decided = await client.post(place, json=APPROVE)

    assert (refused.status_code, refused.headers["Retry-After"]) == (503, "60")
    assert (decided.status_code, decided.json()["message"]["content"]) == (200, "x")
