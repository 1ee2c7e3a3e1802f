"""Parameters may name a header that repeats them, where clients of MCP take it."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from sidecall import tool
from sidecall.kernel.core.errors import SchemaInferenceError
from sidecall.kernel.schema.forms.definitions import FORMATS, render_definitions


def header(name: Any) -> Any:
    """Name the header that repeats a parameter."""
    return Field(json_schema_extra={"x-mcp-header": name})


class Place(BaseModel):
    """A place."""

    region: Annotated[str, header("Region")]


def query(
    region: Annotated[Literal["north", "south"], header("Region")], shard: Annotated[int, header("S")] = 1
) -> str:
    """Query."""
    return f"{region} {shard}"


def may_be_none(region: Annotated[str | None, header("Region")] = None) -> None:
    """Query."""


def is_a_number(region: Annotated[float, header("Region")]) -> None:
    """Query."""


def in_a_list(region: list[Annotated[str, header("Region")]]) -> None:
    """Query."""


def in_a_model(place: Place) -> None:
    """Query."""


def no_name(region: Annotated[str, header("the region")]) -> None:
    """Query."""


def no_text(region: Annotated[str, header(7)]) -> None:
    """Query."""


def twice(region: Annotated[str, header("Region")], other: Annotated[str, header("region")]) -> None:
    """Query."""


def test_headers_are_found_and_only_clients_of_mcp_hear_of_them() -> None:
    """Providers do not know the keyword, and may refuse it; MCP's clients take no argument that may be null."""
    compiled = tool(query).compiled
    nested = {"type": "object", "properties": {"in": {"type": "object", "properties": {"b": {"type": "boolean"}}}}}
    nested["properties"]["in"]["properties"]["b"]["x-mcp-header"] = "Deep"

    assert compiled.mirrored == {b"mcp-param-region": ("region",), b"mcp-param-s": ("shard",)}
    assert tool(in_a_model).compiled.mirrored == {b"mcp-param-region": ("place", "region")}
    assert tool("deep", args_schema=nested)(lambda **_given: "").compiled.mirrored == {b"mcp-param-deep": ("in", "b")}
    for strict in (False, True):
        said = {form: str(render_definitions([compiled], form, strict=strict)) for form in FORMATS}
        assert [form for form, text in said.items() if "x-mcp-header" in text] == ["mcp"]
        assert "null" not in said["mcp"]


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (may_be_none, "`region`: has an x-mcp-header, but is no text, whole number or switch, or may also be None."),
        (is_a_number, "`region`: has an x-mcp-header, but is no text"),
        (in_a_list, "an x-mcp-header stands where clients refuse it"),
        (no_name, "`region`: its x-mcp-header is no name of a header."),
        (no_text, "`region`: its x-mcp-header is no name of a header."),
        (twice, "two parameters have the x-mcp-header 'region'."),
    ],
)
def test_what_clients_would_refuse_is_refused_at_the_start(function: Callable[..., None], text: str) -> None:
    """They would leave the whole tool out of their list, and only their log would say so."""
    with pytest.raises(SchemaInferenceError, match=rf"tool '{function.__name__}'.*{text.split('`')[-1]}"):
        assert tool(function).compiled
