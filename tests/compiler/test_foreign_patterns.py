"""Patterns of other servers' schemas are compared as far as that takes no time, and left to those servers otherwise."""

from typing import Any

import pytest

from sidecall.compiler.foreign_patterns import MOST_STEPS, bound_patterns
from sidecall.compiler.json_args_schema import JsonArgsSchema, make_json_args_schema
from sidecall.compiler.pattern_places import leave_patterns
from sidecall.kernel.core.errors import InvalidArguments
from sidecall.kernel.core.tool import Schema

COUNTED = "^.{1,9000}$"


def make(**properties: Schema) -> JsonArgsSchema:
    """Compile the schema of an object with these properties."""
    schema = {"type": "object", "properties": properties}
    return make_json_args_schema("a tool", schema, None, forbid_unknown=False)


def take(accepted: JsonArgsSchema, **arguments: Any) -> dict[str, Any]:
    """Validate arguments."""
    return accepted.validate(arguments, {}, [], [])


def fits(accepted: JsonArgsSchema, **arguments: Any) -> bool:
    """Return whether arguments are taken."""
    try:
        take(accepted, **arguments)
    except InvalidArguments:
        return False
    return True


@pytest.mark.parametrize(
    ("pattern", "is_left"),
    [
        ("^[a-z]+$", False),
        (r"^\d{4}-\d{2}-\d{2}$", False),
        ("^[a-z0-9._%+-]{1,64}@[a-z0-9.-]{1,255}$", False),
        ("(x+y)+z", False),
        (COUNTED, True),
        ("^.{1,5000}$", True),
        # What is behind, and what is ahead, may be looked at from each place.
        ("(?=.*a)b", True),
        ("^(?!.*--)[a-z-]+$", True),
        ("(?<!a)b", True),
        (r"(a|aa)+\1$", True),
    ],
)
def test_a_pattern_without_a_bound_is_never_compared(pattern: str, is_left: bool) -> None:
    """It is shown as before."""
    accepted, left = bound_patterns(make(text={"type": "string", "pattern": pattern}))

    assert left == (repr(pattern) if is_left else "")
    assert fits(accepted, text="?") is is_left
    assert accepted.json_schema["properties"]["text"]["pattern"] == pattern


def test_the_other_rules_hold() -> None:
    """A text of a length, and another pattern beside the one that is left."""
    rules = {"a": {"type": "string", "pattern": COUNTED, "maxLength": 3}, "b": {"type": "string", "pattern": "^b$"}}
    accepted, _ = bound_patterns(make(**rules, n={"type": "integer"}))

    assert [fits(accepted, a="x"), fits(accepted, a="four"), fits(accepted, b="b"), fits(accepted, b="c")] == [
        True,
        False,
        True,
        False,
    ]
    assert take(accepted, n=3.0) == {"n": 3}


@pytest.mark.parametrize(("pattern", "size"), [("^[a-z]{1,200}$", 202), ("^[ab]+c$", 4)])
def test_much_text_is_compared_with_no_pattern(pattern: str, size: int) -> None:
    """Together with its names, and in whichever argument it is."""
    accepted, left = bound_patterns(make(text={"type": "string", "pattern": pattern}, n={"type": "integer"}))
    most = MOST_STEPS // size

    assert left == ""
    assert not fits(accepted, text="?", more="x" * (most - len("textmore?")))
    assert fits(accepted, text="?", more="x" * most)
    assert fits(accepted, text="?", more=[{"y": "x" * most}])
    assert not fits(accepted, text=7, more="x" * most)
    assert take(accepted, n=3.0, more="x" * most)["n"] == 3


def test_a_schema_without_patterns_is_as_it_was() -> None:
    """Most have none."""
    accepted = make(a={"type": "string"})

    assert bound_patterns(accepted) == (accepted, "")


TEXT: Schema = {"type": "string"}


@pytest.mark.parametrize(
    ("schema", "left"),
    [
        ({**TEXT, "pattern": "a"}, TEXT),
        ({"properties": {"pattern": TEXT}}, {"properties": {"pattern": TEXT}}),
        ({"not": {"pattern": "a"}, "minLength": 1}, {"minLength": 1}),
        ({"not": {"const": 1}}, {"not": {"const": 1}}),
        ({"if": {"pattern": "a"}, "then": {"maxLength": 1}, "else": {"minLength": 2}}, {}),
        ({"if": TEXT, "then": {"pattern": "a"}}, {"if": TEXT, "then": {}}),
        ({"oneOf": [{"pattern": "a"}, {"pattern": "b"}]}, {"allOf": [{"anyOf": [{}, {}]}]}),
        ({"oneOf": [TEXT], "allOf": [{}]}, {"oneOf": [TEXT], "allOf": [{}]}),
        ({"contains": {"pattern": "a"}, "maxContains": 1, "minItems": 1}, {"minItems": 1}),
        ({"propertyNames": {"pattern": "a"}}, {"propertyNames": {}}),
        ({"patternProperties": {"a": TEXT}, "additionalProperties": False, "minProperties": 1}, {"minProperties": 1}),
    ],
)
def test_without_patterns_nothing_is_refused_that_was_taken(schema: Schema, left: Schema) -> None:
    """Where one decides which of others hold, those go with it."""
    assert leave_patterns(schema, lambda _: True) == left
