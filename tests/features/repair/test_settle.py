"""A name that no argument has is refused where it may have been meant for one, and dropped where it cannot."""

from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict

from sidecall import tool
from tests.kit.calls import run


class Page(BaseModel):
    """A page."""

    size: int = 20


class OpenPage(Page):
    """A page that takes more."""

    model_config = ConfigDict(extra="allow")


@tool
def search(text: str, page_size: int = 20) -> Any:
    """Search."""
    return [text, page_size]


@tool
def read(text: str, pages: list[Page] = [], page: Page | None = None, open_page: OpenPage | None = None) -> Any:  # noqa: B006
    """Read."""
    return [text, pages, page, open_page]


@tool
def order(
    what: str,
    verbose: bool = False,
    note: str | None = None,
    ids: list[int] = [],  # noqa: B006
    unit: Literal["kg", "lb"] = "kg",
    weight: float = 1,
) -> Any:
    """Order."""
    return [what, verbose, note, ids, unit, weight]


@tool
def keep(what: str, row: dict[str, Any] = {}, counts: dict[str, int] | None = None, more: Any = None) -> Any:  # noqa: B006
    """Keep."""
    return [what, row, counts, more]


@tool
def insert(table: str, row: dict[str, Any] | None = None) -> Any:
    """Insert."""
    return [table, row]


@tool
def collect(text: str, page_size: int = 20, **more: Any) -> Any:
    """Collect."""
    return [text, page_size, more]


@tool(args_schema={"properties": {"text": {"type": "string"}, "page_size": {"type": "integer", "default": 20}}})
def find(text: str, page_size: int) -> Any:
    """Find."""
    return [text, page_size]


OF_SEARCH = "There is no such argument; the arguments are: page_size, text"
OF_ORDER = "There is no such argument; the arguments are: ids, note, unit, verbose, weight, what"


@pytest.mark.parametrize(
    ("made", "args", "text"),
    [
        (search, {"text": "tent", "limit": 10}, f"limit: {OF_SEARCH}"),
        (search, {"text": "tent", "limit": "10"}, f"limit: {OF_SEARCH}"),
        (search, {"text": "tent", "limit": 10.0}, f"limit: {OF_SEARCH}"),
        (search, {"limit": 10}, f"limit: {OF_SEARCH}\ntext: Field required (string)"),
        (search, {"input": {"text": "tent", "limit": 10}}, f"input.limit: {OF_SEARCH}"),
        (find, {"text": "tent", "limit": 10}, f"limit: {OF_SEARCH}"),
        (order, {"what": "a", "debug": True}, f"debug: {OF_ORDER}"),
        (order, {"what": "a", "debug": "true"}, f"debug: {OF_ORDER}"),
        (order, {"what": "a", "comment": "x"}, f"comment: {OF_ORDER}"),
        (order, {"what": "a", "numbers": [1]}, f"numbers: {OF_ORDER}"),
        (order, {"what": "a", "mass": 1.5}, f"mass: {OF_ORDER}"),
        (order, {"what": "a", "note": "n", "system": "lb"}, f"system: {OF_ORDER}"),
        (
            read,
            {"text": "a", "page": {"limit": 10}},
            "page.limit: There is no such argument; the arguments are: size",
        ),
        (
            read,
            {"text": "a", "pages": [{"size": 1}, {"limit": 10}]},
            "pages[1].limit: There is no such argument; the arguments are: size",
        ),
        # the members of an object of any keys, sent beside it
        (insert, {"table": "a", "colour": "red"}, "colour: There is no such argument; did you mean row.colour?"),
        (insert, {"table": "a", "values": {"c": 1}}, "values: There is no such argument; did you mean row?"),
    ],
)
async def test_what_may_be_meant_for_an_argument_that_was_not_sent_is_refused(
    made: Any, args: dict[str, Any], text: str
) -> None:
    """With the names that there are."""
    message = await run(made, args)

    assert message.content == text
    assert message.response_metadata["error"]["kind"] == "invalid_arguments"


@pytest.mark.parametrize(
    ("made", "args", "content", "ignored"),
    [
        (search, {"text": "tent", "page_size": 3, "limit": 10}, '["tent", 3]', ["limit"]),
        (search, {"text": "tent", "language": "en"}, '["tent", 20]', ["language"]),
        (search, {"text": "tent", "limit": None}, '["tent", 20]', ["limit"]),  # nothing was meant
        (search, {"text": "tent", "limit": 2.5}, '["tent", 20]', ["limit"]),
        (find, {"text": "tent", "language": "en"}, '["tent", 20]', ["language"]),
        (order, {"what": "a", "names": ["x"], "note": "n"}, '["a", false, "n", [], "kg", 1]', ["names"]),
        (order, {"what": "a", "note": "n", "system": "oz"}, '["a", false, "n", [], "kg", 1]', ["system"]),
        (
            read,
            {"text": "a", "page": {"title": "x"}},
            '["a", [], {"size": 20}, null]',
            ["page.title"],
        ),
        (insert, {"table": "a", "row": {}, "colour": "red"}, '["a", {}]', ["colour"]),
        # what takes values of any type is no better place than any other
        (keep, {"what": "a", "colour": "red", "row": {}, "counts": {}}, '["a", {}, {}, null]', ["colour"]),
        # what takes any name gets it
        (read, {"text": "a", "open_page": {"limit": 1}}, '["a", [], null, {"size": 20, "limit": 1}]', []),
        (collect, {"text": "a", "limit": 1}, '["a", 20, {"limit": 1}]', []),
    ],
)
async def test_what_cannot_be_meant_for_any_is_dropped(
    made: Any, args: dict[str, Any], content: str, ignored: list[str]
) -> None:
    """And noted."""
    message = await run(made, args)

    assert (message.content, message.response_metadata["ignored_args"]) == (content, ignored)


@pytest.mark.parametrize("policy", ["ignore", "tell"])
@pytest.mark.parametrize("made", [search, find], ids=["a function", "a JSON Schema"])
async def test_an_author_who_says_so_has_it_dropped_in_any_case(made: Any, policy: Any) -> None:
    """As the option has it."""
    loose = tool(args_schema=made.args_schema if made is find else None, unknown_args=policy)(made.func)

    message = await run(loose, {"text": "tent", "limit": 10})

    assert (message.content, message.response_metadata["ignored_args"]) == ('["tent", 20]', ["limit"])


@pytest.mark.parametrize("args", [{"text": "tent", "limit": 10}, {"text": "tent", "page_size": 3, "limit": 10}])
async def test_an_author_who_forbids_it_has_it_refused_in_any_case(args: dict[str, Any]) -> None:
    """With the same words."""
    closed = tool(unknown_args="forbid")(search.func)

    assert (await run(closed, args)).content == f"limit: {OF_SEARCH}"
