"""Forms hold every value of every shape that a parameter has, filled and typed."""

import json
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Page

from tests.kit.forms.foreign import FOREIGN
from tests.kit.forms.pages import call
from tests.kit.forms.shapes import SHAPES, make_probe, schema_of
from tests.properties.runs import examples
from tests.properties.signatures import arguments, programs, running

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


@cache
def list_cases() -> list[tuple[str, str, str]]:
    """List the name of a shape, its schema and a value, for each value."""
    schemas = {shape.name: json.dumps(schema_of(make_probe(shape.annotation))) for shape in SHAPES}
    return [(shape.name, schemas[shape.name], value) for shape in SHAPES for value in shape.values]


def work(page: Page, how: str) -> dict[tuple[str, str], Any]:
    """Bring every value into a form of its shape, and return what was read, None where there is no such field."""
    wrapped = [(name, schema, f'{{"value": {value}}}') for name, schema, value in list_cases()]
    answers = call(page, "each", how, wrapped)
    return {(name, value): answer for (name, _, value), answer in zip(list_cases(), answers, strict=True)}


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
    assert len(list_cases()) >= 220


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


def test_what_the_server_refuses_is_said_at_its_field(page: Page) -> None:
    """Each of the values is taken, or each of its errors is linked to the field of its path, or to one around it."""
    with ThreadPoolExecutor(1) as pool:
        refused = pool.submit(refuse_all).result()

    wrong = []
    for schema, value, errors in refused:
        call(page, "prefill", schema, f'{{"value": {value}}}')
        shown = call(page, "refuse", [{"path": it["loc"], "message": it["msg"]} for it in errors])
        texts = "\n".join(text for _, text, is_linked in shown if is_linked)
        wrong += [(value, it) for it in errors if it["msg"] not in texts or it["loc"][:1] != ["value"]]
    assert len(refused) >= 40
    assert wrong == []


def refuse_all() -> list[tuple[str, str, list[Any]]]:
    """Send every value to its tool, and return those that are refused, with their schemas and errors."""
    refused = []
    for shape in SHAPES:
        made = make_probe(shape.annotation)
        for value in shape.values:
            text = f'{{"value": {value}}}'
            message = made.invoke({"type": "tool_call", "name": "probe", "args": json.loads(text), "id": "c"})
            if message.status == "error":
                refused.append((json.dumps(schema_of(made)), value, message.response_metadata["error"]["errors"]))
    return refused


def test_schemas_of_others_begin_with_the_right_fields(page: Page) -> None:
    """Those that say nothing usable begin with a field for JSON."""
    begins = {}
    for one in FOREIGN:
        page.evaluate("(schema) => void window.kit.open(schema)", one.schema)
        begins[one.name] = call(page, "list")

    assert begins == {one.name: one.begins for one in FOREIGN}


@pytest.mark.parametrize("how", ["prefill", "type"])
def test_forms_of_others_give_every_value_back(page: Page, how: str) -> None:
    """However odd their schemas are; some that fit no field can be filled in only as JSON."""
    cases = [(one.name, one.schema, value) for one in FOREIGN for value in one.values]
    answers = call(page, "each", how, cases)

    found = [(name, value, answer) for (name, _, value), answer in zip(cases, answers, strict=True) if answer]
    assert [case for case in found if read(case[2]["text"]) != read(case[1])] == []
    assert {problem["message"] for *_, answer in found for problem in answer["problems"]} == {"Required."}
    assert len(cases) - len(found) == (0 if how == "prefill" else 12)


@examples(10)
@given(st.data())
def test_forms_of_any_signature_give_every_argument_back(opened: Page, data: st.DataObject) -> None:
    """Of any types in any places."""
    program = data.draw(programs())
    with running(program) as made:
        schema = json.dumps(made.schema)
    values = [json.dumps(data.draw(arguments(program))) for _ in range(2)]

    for how in ("prefill", "type"):
        for value, answer in zip(
            values, call(opened, "each", how, [("", schema, value) for value in values]), strict=True
        ):
            assert answer is None or (read(answer["text"]), answer["problems"]) == (read(value), [])
