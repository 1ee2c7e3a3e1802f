"""A tool whose arguments are described by a JSON Schema takes what the schema allows, and nothing else."""

import asyncio
from typing import Any

import jsonschema_rs
from hypothesis import given, note
from hypothesis import strategies as st

from sidecall import StructuredTool, ToolMessage, tool
from sidecall.kernel.schema.forms.definitions import render_definitions
from tests.kit.calls import run
from tests.properties.json_values import allowed_by, any_json
from tests.properties.runs import examples
from tests.properties.signatures import Program, programs, running


def _made(schema: dict[str, Any], calls: list[dict[str, Any]]) -> StructuredTool:
    @tool(args_schema=schema)
    def generated(**given: Any) -> str:
        """Take anything."""
        calls.append(given)
        return "done"

    return generated


def _call(made: StructuredTool, args: Any) -> ToolMessage:
    return asyncio.run(run(made, args))


def _filled(value: Any, sent: Any) -> bool:
    """Judge whether a value is what was sent, but for defaults that were filled in."""
    if isinstance(sent, dict):
        return isinstance(value, dict) and all(key in value and _filled(value[key], sent[key]) for key in sent)
    if isinstance(sent, list):
        return isinstance(value, list) and len(value) == len(sent) and all(map(_filled, value, sent))
    if isinstance(sent, float) and sent.is_integer() and type(value) is int:
        return value == sent  # 3.0 is 3 where an integer is wanted.
    return type(value) is type(sent) and bool(value == sent)


@given(program=programs(), data=st.data())
@examples(40)
def test_what_a_json_schema_allows_reaches_the_function_as_it_is(program: Program, data: st.DataObject) -> None:
    """The schema is advertised unchanged in meaning, and values are neither refused nor turned into others."""
    calls: list[dict[str, Any]] = []
    with running(program) as described:
        note(described.schema)
        made = _made(described.schema, calls)
    sent = data.draw(allowed_by(render_definitions([made.compiled], "openai")[0]["function"]["parameters"]))
    message = _call(made, sent)

    assert (message.status, message.content) == ("success", "done"), message.content
    assert _filled(calls[0], sent)
    assert jsonschema_rs.is_valid(described.schema, calls[0])


@given(program=programs(), sent=st.dictionaries(st.sampled_from(["self", "a", "value"]), any_json), data=st.data())
@examples(40)
def test_what_a_json_schema_refuses_is_refused(program: Program, sent: dict[str, Any], data: st.DataObject) -> None:
    """The function is called if the schema allows what was sent, and only then."""
    calls: list[dict[str, Any]] = []
    with running(program) as described:
        note(described.schema)
        made = _made(described.schema, calls)
    spoiled = {**data.draw(allowed_by(described.schema)), **sent}
    message = _call(made, spoiled)
    is_allowed = jsonschema_rs.is_valid(described.schema, spoiled)

    assert (message.status == "success", len(calls)) == (is_allowed, int(is_allowed)), message.content
