"""Lists come in pages, and with tools that the model finds itself."""

import re
from typing import Any

import pytest
from anthropic.types import ToolUnionParam
from openai.types.responses import ToolParam
from pydantic import TypeAdapter

from sidecall import ToolSearchTool, WebSearchTool, tool, tool_namespace
from tests.kit.clients import MakeClient


def make_tools(count: int) -> list[Any]:
    """Make so many tools."""
    return [tool(f"t{number}", description=f"Do {number}.")(lambda: "") for number in range(count)]


@tool
async def find_order(number: int) -> str:
    """Find an order."""
    return str(number)


@tool(extras={"defer_loading": False})
async def greet() -> str:
    """Greet."""
    return "hello"


async def follow(client: Any, target: str) -> list[Any]:
    """Follow the pages from the first one."""
    pages = []
    while target:
        answer = await client.get(target)
        pages.append(answer.json())
        link = re.fullmatch('<(.*)>; rel="next"', answer.headers.get("Link", ""))
        target = "" if link is None else link[1]
    return pages


@pytest.mark.parametrize(
    ("count", "limit", "sizes"),
    [(5, 2, [2, 2, 1]), (4, 2, [2, 2]), (1, 1, [1]), (0, 1, [0]), (3, 1000, [3])],
)
async def test_pages_hold_all_tools_in_order(make_client: MakeClient, count: int, limit: int, sizes: list[int]) -> None:
    """Each once; the bodies are bare arrays."""
    pages = await follow(await make_client(*make_tools(count)), f"/tools?limit={limit}&format=anthropic")

    assert [len(page) for page in pages] == sizes
    assert [it["name"] for page in pages for it in page] == [f"t{number}" for number in range(count)]


@pytest.mark.parametrize("limit", [7, 20, 21, 1000])
@pytest.mark.parametrize("search", ["", "&search=provider"])
async def test_the_pages_together_have_no_more_strict_tools_than_anthropic_takes(
    make_client: MakeClient, limit: int, search: str
) -> None:
    """A program puts them together, so the first twenty of all are strict, no matter how long a page is."""
    client = await make_client(*make_tools(23))

    pages = await follow(client, f"/tools?limit={limit}&format=anthropic&strict=true{search}")
    strict = [it["name"] for page in pages for it in page if it.get("strict")]

    assert strict == [f"t{number}" for number in range(20)]


async def test_what_is_not_asked_for_takes_no_room_among_the_strict_tools(make_client: MakeClient) -> None:
    """The limits are those of the list; and each list has its own `ETag`, which stays while it does."""
    client = await make_client(*make_tools(23))
    wanted = "&".join(f"name=t{number}" for number in range(10, 23))

    some = await client.get(f"/tools?format=anthropic&strict=true&{wanted}")
    every = await client.get("/tools?format=anthropic&strict=true")
    again = await client.get("/tools?format=anthropic&strict=true")
    known = await client.get("/tools?format=anthropic&strict=true", headers={"If-None-Match": every.headers["ETag"]})

    assert [it["strict"] for it in some.json()] == [True] * 13
    assert [it.get("strict") for it in every.json()] == [True] * 20 + [None] * 3
    assert (again.content, again.headers["ETag"]) == (every.content, every.headers["ETag"])
    assert some.headers["ETag"] != every.headers["ETag"]
    assert known.status_code == 304


async def test_a_page_counts_what_its_form_has_room_for(make_client: MakeClient) -> None:
    """What a provider runs has none in most; Gemini's tools stand in one element."""
    client = await make_client(WebSearchTool(), *make_tools(2))

    assert len(await follow(client, "/tools?limit=2")) == 1
    assert len(await follow(client, "/tools?limit=2&format=openai-responses")) == 2
    assert [len(page[0]["functionDeclarations"]) for page in await follow(client, "/tools?limit=1&format=gemini")] == [
        1,
        1,
    ]


async def test_a_page_is_another_one_when_there_is_a_next(make_client: MakeClient) -> None:
    """Its ETag says so, though its body is the same; and 304 says where the next one is."""
    one, more = await make_client(*make_tools(1)), await make_client(*make_tools(2))

    first, second = await one.get("/tools?limit=1"), await more.get("/tools?limit=1")
    again = await more.get("/tools?limit=1", headers={"If-None-Match": second.headers["ETag"]})

    assert (first.content, first.headers["ETag"] == second.headers["ETag"]) == (second.content, False)
    assert (again.status_code, again.headers["Link"]) == (304, second.headers["Link"])


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("limit=1&cursor=gone", "`cursor` leads nowhere, or not any more: list the tools from their beginning."),
        ("limit=1&cursor=t1&name=t0", "`cursor` leads nowhere, or not any more: list the tools from their beginning."),
        ("cursor=t0", "`cursor` goes with `limit`."),
        ("limit=0", "limit: Input should be greater than or equal to 1"),
        ("limit=1001", "limit: Input should be less than or equal to 1000"),
        ("search=bm25", "`search` goes with `format=openai-responses` and `format=anthropic`."),
    ],
)
async def test_a_wrong_page_is_refused(make_client: MakeClient, query: str, detail: str) -> None:
    """422, and words."""
    answer = await (await make_client(*make_tools(3))).get(f"/tools?{query}")

    assert (answer.status_code, answer.json()["detail"]) == (422, detail)


@pytest.mark.parametrize(
    ("query", "search", "names"),
    [
        ("format=openai-responses&search=provider", {"type": "tool_search"}, ["shop", "greet", "web_search"]),
        ("format=openai-responses&search=bm25", "tool_search", ["greet", "web_search"]),
        ("format=openai-responses&search=regex", "tool_search", ["greet", "web_search"]),
        (
            "format=anthropic&search=provider",
            {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
            ["find_order", "greet"],
        ),
        ("format=anthropic&search=bm25", "tool_search_tool_bm25", ["find_order", "greet"]),
        ("format=anthropic&search=regex", "tool_search_tool_regex", ["find_order", "greet"]),
    ],
)
async def test_a_search_stands_before_what_it_finds(
    make_client: MakeClient, query: str, search: Any, names: list[str]
) -> None:
    """For OpenAI what our own search finds is sent when found; the program's own declaration gives way."""
    [grouped] = tool_namespace(name="shop", description="Orders.", tools=[find_order.model_copy()])
    client = await make_client(grouped, greet, ToolSearchTool(), WebSearchTool())

    first, *others = (await client.get(f"/tools?{query}")).json()

    kind: Any = ToolParam if "openai" in query else ToolUnionParam
    TypeAdapter(list[kind]).validate_python([first, *others])
    assert first == search or search in (first.get("name"), first.get("type"))
    assert [it.get("name", it.get("type")) for it in others] == names
    flat = [inner for it in others for inner in it.get("tools", [it])]
    assert {it["name"] for it in flat if it.get("defer_loading")} == {"find_order"} & {it.get("name") for it in flat}


async def test_openais_own_search_on_the_client_says_what_it_takes(make_client: MakeClient) -> None:
    """As the tool that is called by it has it."""
    client = await make_client(find_order)

    [search] = (await client.get("/tools?format=openai-responses&search=bm25")).json()

    assert (search["type"], search["execution"], search["parameters"]["required"]) == (
        "tool_search",
        "client",
        ["query"],
    )


async def test_the_search_stands_on_the_first_page(make_client: MakeClient) -> None:
    """Once."""
    pages = await follow(await make_client(*make_tools(2)), "/tools?limit=1&format=anthropic&search=bm25")

    assert [[it["name"] for it in page] for page in pages] == [["tool_search_tool_bm25", "t0"], ["t1"]]


async def test_a_search_that_an_author_has_taken_the_name_of_is_not_there(make_client: MakeClient) -> None:
    """It would run what the author wrote."""
    own = tool("tool_search_tool_bm25", description="Be mine.")(lambda: "")

    answer = await (await make_client(own)).get("/tools?format=anthropic&search=bm25")

    assert answer.status_code == 422
    assert "a tool that is offered has its name" in answer.json()["detail"]
