"""Authors are told what models and providers will stumble over."""

from datetime import UTC, datetime
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from sidecall import BaseTool, ToolContext, tool
from sidecall.features.provider_formats.lint import lint, lint_tool
from sidecall.kernel.core.tool import Finding, Schema


class Node(BaseModel):
    """A node."""

    children: list["Node"] = []


def _named(name: str, description: str = "Do it.") -> BaseTool:
    return tool(name, description=description)(lambda: None)


def _taking(annotation: Any) -> BaseTool:
    def take(x: Any) -> None:
        """Take."""

    take.__annotations__["x"] = Annotated[annotation, "Described."]
    return tool(take)


def test_nothing_is_found_in_a_good_tool() -> None:
    """A description for the tool and for each parameter, and plain types."""
    assert lint([_taking(list[str]).compiled, _named("unlike").compiled]) == []


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("", "has no description; write a docstring, models choose tools by it"),
        ("x" * 1025, "has a description of 1025 characters; OpenAI refuses more than 1024"),
    ],
)
def test_a_description_has_to_be_there_and_short_enough(description: str, expected: str) -> None:
    """Both keep the tool from working somewhere."""
    assert lint_tool(_named("t", description).compiled) == [Finding("t", "error", expected)]


def test_a_description_of_1024_characters_is_fine() -> None:
    """The limit itself is allowed."""
    assert lint_tool(_named("t", "x" * 1024).compiled) == []


def test_a_parameter_without_description_is_a_warning() -> None:
    """So is a description without parameter."""

    @tool
    def search(query: str) -> str:
        """Search.

        Args:
            page: Which one.
        """
        return query

    assert lint_tool(search.compiled) == [
        Finding("search", "warning", "parameter `query` has no description; add it to the docstring's Args"),
        Finding("search", "warning", "the docstring describes `page`, which is not a parameter"),
    ]


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (
            tuple[int, str],
            [
                ("error", "`x` is an array whose items have no one type; OpenAI and Gemini refuse it, use list[...]"),
                ("note", "cannot be strict: x: strict mode has no tuples; use a list or a model"),
            ],
        ),
        (
            dict[str, int],
            [
                ("warning", "`x` is an object with free keys, so models guess them; use a pydantic model"),
                ("note", "cannot be strict: x: strict mode has no objects with free keys (dict, **kwargs)"),
            ],
        ),
        (
            Any,
            [
                ("warning", "`x` has no type, so models guess it; annotate it"),
                ("note", "cannot be strict: x: strict mode needs a type (Any or no annotation)"),
            ],
        ),
        (
            Node,
            [
                ("warning", "`x` refers to itself; Gemini is told its first level alone"),
                ("warning", "`Node.children[]` refers to itself; Gemini is told its first level alone"),
                ("note", "cannot be strict for Anthropic: x: refers to itself"),
                ("note", "cannot be strict for Anthropic: Node.children[]: refers to itself"),
            ],
        ),
    ],
)
def test_a_type_that_a_provider_refuses_is_named(annotation: Any, expected: list[tuple[str, str]]) -> None:
    """Worst first."""
    found = [(finding.level, finding.message) for finding in lint_tool(_taking(annotation).compiled)]

    assert found == expected


@pytest.mark.parametrize(
    ("first", "second"), [("search_web", "search-web"), ("search_web", "Search_Web"), ("search_web", "search_webs")]
)
def test_names_that_models_mix_up_are_a_warning(first: str, second: str) -> None:
    """Found on the later tool."""
    assert lint([_named(first).compiled, _named(second).compiled]) == [
        Finding(second, "warning", f"is named almost like `{first}`; models mix them up")
    ]


@pytest.mark.parametrize(
    ("properties", "places"),
    [
        ({"$filter": {}, "größe": {}, "user name": {}, "": {}}, ["größe", ""]),
        ({"x" * 65: {}}, ["x" * 65]),
        ({"x" * 64: {}, "a.b-C_3": {}}, []),
        (
            {
                "list": {"type": "array", "items": {"type": "object", "properties": {"a b": {}}}},
                "one": {"anyOf": [{"properties": {"c d": {}}}, {"properties": {"c d": {}}}]},
            },
            ["list[].a b", "one.c d"],
        ),
    ],
)
def test_names_of_properties_that_anthropic_refuses_are_warned_of(properties: Schema, places: list[str]) -> None:
    """At every depth, once each; of nested ones it is not said anywhere. Arguments listed otherwise are left out."""

    def take(**given: Any) -> None:
        """Take."""
        del given

    found = [it.message for it in lint_tool(tool(take, args_schema={"properties": properties}).compiled)]

    takes = "it takes ^[a-zA-Z0-9_.-]{1,64}$; rename it"
    assert [message for message in found if "Anthropic" in message] == [
        f"`{place}` has a name that Anthropic {'may refuse' if '.' in place else 'refuses'}: {takes}"
        for place in places
    ]


def test_a_default_that_changes_is_a_note() -> None:
    """What callers rely on then changes, too."""
    moment = datetime.now(UTC)

    @tool
    def remind(at: Annotated[datetime, "When."] = moment) -> None:
        """Remind."""
        del at

    text = moment.isoformat().replace("+00:00", "Z")
    made = f"`at` has the default {text}, which seems to be made at each start: the tool's hash then changes, which"
    mend = "`sidecall check --lock` takes for a change; let it be None, and make the value in the function"
    assert lint_tool(remind.compiled)[-1] == Finding("remind", "note", f"{made} {mend}")


def _search(self: Any, query: str) -> str:
    return f"{self}{query}"


def _count(query: str, cls: str = "") -> str:
    return query + cls


def _fill(self: ToolContext, itself: str) -> str:
    return f"{self}{itself}"


def _say(itself: str, selfs: str) -> str:
    return itself + selfs


class Searcher:
    """Has a method."""

    def search(self, query: str) -> str:
        """Search."""
        return query


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (_search, ["self"]),
        (_count, ["cls"]),
        (_fill, []),
        (Searcher().search, []),
        (_say, []),
    ],
)
def test_a_parameter_called_self_is_a_note(function: Any, named: list[str]) -> None:
    """A function that was a method has one left over; of a real method models see none."""
    found = [
        it for it in lint_tool(tool("search", description="Search.")(function).compiled) if "offer the" in it.message
    ]

    assert found == [
        Finding(
            "search",
            "note",
            f"parameter `{name}` is an argument that models send; of a method, offer the one of an instance",
        )
        for name in named
    ]
