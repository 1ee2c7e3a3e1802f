"""Documents are read as JSON and YAML; what is no document of OpenAPI 3 is refused with words."""

import re
from functools import reduce
from pathlib import Path
from typing import Any

import pytest

from sidecall import from_openapi
from sidecall.features.openapi_import.reading import InvalidDocument
from sidecall.features.openapi_import.yaml_text import load_yaml

# Nine lines, of which each has the one before it ten times.
LAUGHS = "a0: &a0 x\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 10))
# A list in a list, three thousand times, in as many lines.
DEEP = "a0: &a0 [1]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 3000))
GET = {"operationId": "get", "summary": "Get it.", "responses": {}}


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ({"swagger": "2.0", "paths": {}}, "is written in Swagger 2.0: convert it to OpenAPI 3 first"),
        ({"openapi": "4.0.0", "paths": {}}, "is no document of OpenAPI 3: its `openapi` is '4.0.0'"),
        ({"openapi": "3.0.0", "paths": []}, "its `paths` have to be an object"),
        ({"openapi": "3.0.0", "paths": {}}, "it has none that is wanted"),
        ({"openapi": "3.0.0", "paths": {"/": {"get": GET}}}, "give base_url='https://…'"),
    ],
)
def test_a_document_that_cannot_be_used_is_refused_with_words(written: dict[str, Any], complaint: str) -> None:
    """Swagger 2 has no converter in Python that is kept."""
    with pytest.raises(InvalidDocument) as caught:
        from_openapi(written)

    assert complaint in caught.value.message


def test_files_are_read_as_json_and_yaml(tmp_path: Path) -> None:
    """What YAML would take for dates and switches stays text; what is neither is refused."""
    (tmp_path / "api.yaml").write_text(
        "openapi: 3.0.3\nservers: [{url: https://api.example.com}]\npaths:\n  /:\n    get:\n      operationId: get\n"
        "      parameters:\n      - {name: v, in: query, schema: {type: string, enum: [on, 2024-01-01, y]}}\n"
    )
    (tmp_path / "broken.yaml").write_text("a: [")

    (tool,) = from_openapi(tmp_path / "api.yaml").get_tools()

    assert tool.compiled.args_schema.flat["properties"]["v"]["enum"] == ["on", "2024-01-01", "y"]
    with pytest.raises(InvalidDocument, match="is neither JSON nor YAML"):
        from_openapi(str(tmp_path / "broken.yaml"))
    with pytest.raises(InvalidDocument, match="cannot be read: No such file"):
        from_openapi(tmp_path / "none.json")
    with pytest.raises(InvalidDocument, match="name it in SIDECALL_OPENAPI"):
        from_openapi("https://api.example.com/openapi.json")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a: &one {x: 1}\nb: *one\nc: {<<: *one, y: 2}\nd: {<<: [*one, {x: 5, z: 3}], z: 4}\n",
         {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}, "d": {"x": 1, "z": 4}}),
        ("[1, 1.5, 0x1f, ~, null, 'null', yes, True, 2024-01-01, '<<', !!str 7, \"\\u00e9\"]",
         [1, 1.5, 31, None, None, "null", "yes", True, "2024-01-01", "<<", "7", "é"]),
        ("200:\n  a: |\n    x\n    y\n  b: >-\n    x\n    y\n", {200: {"a": "x\ny\n", "b": "x y"}}),
        ("a: [=, on, off, n]\n=: !!set {x}\n", {"a": ["=", "on", "off", "n"], "=": {"x": None}}),
        ("[" * 200 + "]" * 200, reduce(lambda inside, _: [inside], range(199), [])),
    ],
)  # fmt: skip
def test_yaml_is_read_as_json_has_values(text: str, value: Any) -> None:
    """Anchors, merged keys, blocks and tags are resolved."""
    assert load_yaml(text.encode()) == value


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: [", "did not find expected node content"),
        ("a: &a [*a]", "an alias stands for what it is in"),
        ("a: &a {b: [{<<: *a}]}", "an alias stands for what it is in"),
        ("a: *b", "found undefined alias"),
        ("{a: 1}: 2", "found unhashable key"),
        ("a: {<<: 3}", "expected a mapping or list of mappings for merging"),
        (LAUGHS, "its aliases make more of it than can be read"),
        (LAUGHS.replace("x", "{k: 1}").replace("[", "{<<: [").replace("]", "]}"), "its aliases make more of it"),
        (DEEP, "its aliases make more of it than can be read"),
        ("a: 1\n---\nb: 2", "expected a single document"),
        ("a: !!python/name:os.system x", "could not determine a constructor"),
        ("a: !!timestamp 2024-01-01", "could not determine a constructor"),
        ("a: !!binary aGk=", "could not determine a constructor"),
        ("a: !!bool x", "a tag does not fit its value"),
        ("a: !!int ''", "a tag does not fit its value"),
    ],
)
def test_yaml_that_json_cannot_say_is_refused(text: str, complaint: str) -> None:
    """What is there to be read is said."""
    with pytest.raises(ValueError, match=re.escape(complaint)):
        load_yaml(text.encode())


def test_no_object_but_those_of_json_is_made() -> None:
    """A tag of Python's on a mapping counts for nothing."""
    assert load_yaml(b"a: !!python/object/apply:os.system {x: 1}") == {"a": {"x": 1}}


@pytest.mark.parametrize("opening", ["[", "- ", "? ", "{a: ", "!!seq [", "<<: {"])
def test_yaml_that_is_too_deep_is_refused(opening: str) -> None:
    """Before it is composed."""
    with pytest.raises(ValueError, match="it has more than 200 levels"):
        load_yaml(opening.encode() * 300)
