"""Changes of a schema are named, and those that break callers told apart."""

from typing import Any

import pytest

from sidecall.features.contract.breaking_changes import compare_parameters

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}
NUMBER = {"type": "number"}
NULL = {"type": "null"}


def take(*required: str, **properties: Any) -> dict[str, Any]:
    """Write the schema of an object."""
    return {"type": "object", "properties": properties, "required": list(required)}


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        (take(a=TEXT), take(a=TEXT), []),
        (take(), take(a=TEXT), [("a: is new, and optional", False)]),
        (take(), take("a", a=TEXT), [("a: is new, and required", True)]),
        (take(a=TEXT), take(), [("a: is not there any more", True)]),
        (take(a=TEXT), take("a", a=TEXT), [("a: is required now", True)]),
        (take("a", a=TEXT), take(a=TEXT), [("a: is optional now", False)]),
        (take(a=WHOLE), take(a=NUMBER), [("a: its type was integer and is number", False)]),
        (take(a=NUMBER), take(a=WHOLE), [("a: its type was number and is integer", True)]),
        (take(a=TEXT), take(a={}), [("a: its type was string and is any", False)]),
        (take(a={}), take(a={"type": ["string", "null"]}), [("a: its type was any and is string or null", True)]),
        (
            take(a={"enum": ["x", "y"]}),
            take(a={"enum": ["x", "z"]}),
            [('a: does not take ["y"] any more', True), ('a: takes ["z"], too', False)],
        ),
        (take(a={"const": 1}), take(a={"enum": [1, 2]}), [("a: takes [2], too", False)]),
        (take(a=TEXT), take(a={**TEXT, "enum": ["x"]}), [('a: takes only ["x"] now', True)]),
        (take(a={**TEXT, "enum": ["x"]}), take(a=TEXT), [("a: takes other values than before, too", False)]),
        (take(a=TEXT), take(a={"anyOf": [TEXT, NULL]}), [('a: takes {"type": "null"}, too', False)]),
        (take(a={"anyOf": [TEXT, NULL]}), take(a=TEXT), [('a: does not take {"type": "null"} any more', True)]),
        (
            take(a={"anyOf": [WHOLE, TEXT]}),
            take(a={"anyOf": [TEXT, NUMBER]}),
            [('a: takes {"type": "number"}, too', False)],
        ),
        (
            take(a={"type": "array", "items": NUMBER}),
            take(a={"type": "array", "items": WHOLE}),
            [("a[]: its type was number and is integer", True)],
        ),
        (take(o=take(a=TEXT)), take(o=take("b", a=TEXT, b=TEXT)), [("o.b: is new, and required", True)]),
        (take(a={**WHOLE, "minimum": 1}), take(a={**WHOLE, "minimum": 2}), [("a: minimum was 1 and is 2", True)]),
        (take(a={**WHOLE, "maximum": 1}), take(a={**WHOLE, "maximum": 2}), [("a: maximum was 1 and is 2", False)]),
        (take(a={**TEXT, "pattern": "x"}), take(a=TEXT), [('a: pattern was "x" and is null', False)]),
        (take(a=TEXT), take(a={**TEXT, "format": "uri"}), [('a: format was null and is "uri"', True)]),
        (take(), {**take(), "additionalProperties": False}, [("takes no other keys any more", True)]),
        ({**take(), "additionalProperties": False}, take(), [("takes other keys, too", False)]),
        (
            {"type": "object", "additionalProperties": NUMBER},
            {"type": "object", "additionalProperties": WHOLE},
            [("*: its type was number and is integer", True)],
        ),
        (take(a=TEXT), take(a={**TEXT, "description": "New."}), [("a: has another description", False)]),
        (take(a={**TEXT, "default": "x"}), take(a={**TEXT, "default": "y"}), [("a: has another default", False)]),
        (take(a=True), take(a=False), [("a: not was null and is {}", True)]),
    ],
)
def test_changes_are_named(old: Any, new: Any, changes: list[tuple[str, bool]]) -> None:
    """What was taken and is not any more breaks callers."""
    assert [(it.text, it.breaks) for it in compare_parameters(old, new)] == changes
