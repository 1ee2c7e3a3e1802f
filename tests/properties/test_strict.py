"""What can be said in OpenAI's strict form is said by its rules, and what a strict model sends means the same."""

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
from hypothesis import assume, given, note
from hypothesis import strategies as st

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.forms.definitions import render_definitions
from sidecall.kernel.schema.forms.strict import find_strict_obstacles
from tests.properties.json_values import allowed_by
from tests.properties.runs import examples
from tests.properties.signatures import Made, Program, parameters, programs, running

# https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
_KEYWORDS = set(
    "type properties required additionalProperties items anyOf enum const description $ref $defs pattern format"
    " multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems minLength maxLength".split()
)
_FORMATS = {None, *"date-time time date duration email hostname ipv4 ipv6 uuid".split()}


def _offences(node: Schema, path: str = "#") -> Iterator[str]:
    """Name what the API would refuse, at every depth."""
    if not node.keys() <= _KEYWORDS or node.get("format") not in _FORMATS:
        yield f"{path}: {sorted(node.keys() - _KEYWORDS)} {node.get('format')}"
    if "$ref" in node and len(node) > 1:
        yield f"{path}: $ref beside {sorted(node)}"
    if not node.keys() & {"type", "anyOf", "enum", "const", "$ref"}:
        yield f"{path}: no type"
    if node.get("type") == "array" and "items" not in node:
        yield f"{path}: no items"
    is_closed = node.get("additionalProperties") is False and node.get("required") == list(node.get("properties", {}))
    if node.get("type") == "object" and not is_closed:
        yield f"{path}: open, or not all required"
    for step, child in _children(node):
        yield from _offences(child, f"{path}/{step}")


def _children(node: Schema) -> Iterator[tuple[str, Schema]]:
    yield from node.get("properties", {}).items()
    yield from node.get("$defs", {}).items()
    yield from ((f"anyOf/{index}", option) for index, option in enumerate(node.get("anyOf", ())))
    if "items" in node:
        yield "items", node["items"]


class _Plain:
    """Say a strict model's arguments as a model does that was shown the plain schema: null becomes "not given"."""

    def __init__(self, root: Schema) -> None:
        self._root = root

    def takes(self, schema: Schema, value: Any) -> bool:
        """Judge whether a part of the plain schema allows this value."""
        return jsonschema_rs.is_valid({**schema, "$defs": self._root.get("$defs", {})}, value)

    def said(self, value: Any, schema: Schema) -> Any:
        """Leave out what is null because it was not given."""
        if "$ref" in schema:
            return self.said(value, self._root["$defs"][schema["$ref"].removeprefix("#/$defs/")])
        options = schema.get("anyOf", schema.get("oneOf"))
        if options:
            plain = [self.said(value, option) for option in options]
            return next((it for it, option in zip(plain, options, strict=True) if self.takes(option, it)), value)
        if isinstance(value, list):
            return [self.said(item, schema.get("items", {})) for item in value]
        if not isinstance(value, dict):
            return value
        known = schema.get("properties", {})
        left_out = {
            name
            for name, item in value.items()
            if item is None and name not in schema.get("required", ()) and not self.takes(known.get(name, {}), None)
        }
        return {name: self.said(value[name], known.get(name, {})) for name in value if name not in left_out}


_programs = programs(parameters(places=("/", "", "*args", "*")).filter(lambda it: it.kind.sayable))


def _strict_schema(made: Made) -> tuple[bool, Schema]:
    function = render_definitions([made.tool.compiled], "openai", strict=True)[0]["function"]
    return function.get("strict", False), function["parameters"]


@given(program=programs() | _programs)
@examples(50)
def test_a_schema_without_obstacles_is_said_by_the_rules(program: Program) -> None:
    """Every object is closed, every property required, and no keyword is one that the API refuses."""
    note(program.source)
    with running(program) as made:
        is_strict, schema = _strict_schema(made)

        assert is_strict == (find_strict_obstacles(made.schema) == [])
        assert schema["type"] == "object"
        assert not is_strict or list(_offences(schema)) == []


@given(program=_programs)
@examples(40)
def test_only_what_no_strict_schema_can_say_is_an_obstacle(program: Program) -> None:
    """Types that have a strict form do not keep a tool from being strict."""
    assume(all(it.kind.sayable and it.annotation for it in program.parameters))
    note(program.source)
    with running(program) as made:
        assert find_strict_obstacles(made.schema) == []


@given(program=_programs, data=st.data())
@examples(50)
def test_what_a_strict_model_sends_means_the_same(program: Program, data: st.DataObject) -> None:
    """Null for an optional parameter, which strict models have to send, is as good as nothing."""
    assume(all(it.kind.exact for it in program.parameters))
    note(program.source)
    with running(program) as made:
        assume(find_strict_obstacles(made.schema) == [])
        sent = data.draw(allowed_by(_strict_schema(made)[1]))
        plain = _Plain(made.schema).said(sent, made.schema)
        messages = [made.call(sent), made.call(plain)]

        assert [(it.status, it.content) for it in messages] == [("success", "done")] * 2, [
            it.content for it in messages
        ]
        assert made.calls[0] == made.calls[1]
