"""Forms hold every value of every shape that a parameter has, filled and typed."""

import json
from typing import Any

from playwright.sync_api import Page

from tests.kit.forms.pages import call
from tests.kit.forms.shapes import SHAPES, make_probe, schema_of

# Values that a form does not offer of itself: they fit no variant, or no field can hold them. A person writes them as
# JSON; a form that is filled with them shows them as JSON at their place.
AS_JSON = {
    "str": [r'"\r\n"'],
    "datetime": ["1769866200"],
    "timedelta": ["90", "1.50"],
    "secret": [r'"two\nlines"'],
    "json in a text": ["[1, 2]"],
    "Literal of texts": ['"three"', "1"],
    "Literal of kinds": ["2"],
    "const": ['"other"', "null"],
    "Enum": ['"green"'],
    "IntEnum": ['"HIGH"', "1.0"],
    "list of int": ['["x", null]', "null", str(list(range(300)))],
    "list of str": ["[[]]", r'["\r"]'],
    "tuple": ['["a", 1]'],
    "dict of str": ['{"a": 1}', r'{"\r": "x"}'],
    "dict by Literal": ['{"sun": false}'],
    "int or none": ['"0"'],
    "int or str": ["true"],
    "scalars": ["[]"],
    "list or one": ["{}"],
    "lists of kinds": ['[1, "a"]'],
    "models": ['{"lives": "x"}'],
    "discriminated": ['{"kind": "cash"}', '{"number": "1"}', '{"kind": "card", "number": null, "more": 1}'],
    "closed model": ["[]"],
    "open model": ['{"name": null}'],
    "TypedDict": ['{"zip": null}'],
}
# What is missing in values that are not whole.
REQUIRED = {
    ("models", "{}"): "lives",
    ("discriminated", '{"kind": "card"}'): "number",
    ("closed model", '{"y": 2}'): "x",
    ("closed model", "{}"): "x",
    ("TypedDict", '{"zip": null}'): "city",
    ("odd names", "{}"): "__proto__",
}


def read(text: str) -> Any:
    """Read JSON text with numbers as they are written."""
    return json.loads(text, parse_int=lambda digits: ("number", digits), parse_float=lambda digits: ("number", digits))


CASES = [
    (shape.name, json.dumps(schema_of(make_probe(shape.annotation))), value)
    for shape in SHAPES
    for value in shape.values
]


def work(page: Page, how: str) -> dict[tuple[str, str], Any]:
    """Bring every value into a form of its shape, and return what was read, None where there is no such field."""
    wrapped = [(name, schema, f'{{"value": {value}}}') for name, schema, value in CASES]
    answers = call(page, "each", how, wrapped)
    return {(name, value): answer for (name, _, value), answer in zip(CASES, answers, strict=True)}


def find_wrong(answers: dict[tuple[str, str], Any]) -> dict[tuple[str, str], Any]:
    """Return what is not what was brought in, or has problems other than those listed."""
    wrong = {}
    for (name, value), answer in answers.items():
        missing = REQUIRED.get((name, value))
        problems = [{"path": ["value", missing], "message": "Required."}] if missing else []
        if answer["problems"] != problems or read(answer["text"]) != {"value": read(value)}:
            wrong[name, value] = answer
    return wrong


def test_there_are_as_many_shapes_and_values_as_promised() -> None:
    """No name twice."""
    assert len({shape.name for shape in SHAPES}) == len(SHAPES) >= 59
    assert len(CASES) >= 220


def test_a_filled_form_gives_every_value_back(page: Page) -> None:
    """With every digit and every kind of nothing, right or wrong."""
    assert find_wrong(work(page, "prefill")) == {}


def test_what_is_typed_is_what_is_sent(page: Page) -> None:
    """By boxes, buttons, choices and texts of an empty form; what it has no field for is listed above."""
    answers = work(page, "type")

    missing: dict[str, list[str]] = {}
    for (name, value), answer in answers.items():
        if answer is None:
            missing.setdefault(name, []).append(value)
    assert find_wrong({case: answer for case, answer in answers.items() if answer}) == {}
    assert missing == AS_JSON
