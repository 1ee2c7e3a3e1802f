"""Forms are worked by a keyboard, say what is wrong where it is, and can be heard as well as seen."""

import datetime
import decimal
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page
from pydantic import Field, SecretStr

from sidecall import StructuredTool, tool
from tests.kit.forms.pages import call, open_another
from tests.kit.forms.shapes import Card, Chain, Color, Order, Point, Transfer, Tree, make_probe, schema_of

NOTHING = object()
PAY = Annotated[Card | Transfer, Field(discriminator="kind")]


def open_form(page: Page, made: StructuredTool, value: str | None = None, **options: Any) -> None:
    """Open a form for a tool's arguments and put the focus into it."""
    call(page, "begin", json.dumps(schema_of(made)), value, options)


def press(page: Page, keys: str) -> None:
    """Press keys: those in angle brackets by their name, all else as text."""
    for index, part in enumerate(keys.replace("<", ">").split(">")):
        if index % 2:
            page.keyboard.press(part)
        elif part:
            page.keyboard.insert_text(part) if not part.isascii() else page.keyboard.type(part)


@pytest.mark.parametrize(
    ("annotation", "default", "keys", "text"),
    [
        (int, NOTHING, "42", '{"value":42}'),
        (int, NOTHING, "12345678901234567890", '{"value":12345678901234567890}'),
        (float, NOTHING, "1e300", '{"value":1e300}'),
        (float, NOTHING, " -0.0 ", '{"value":-0.0}'),
        (decimal.Decimal, NOTHING, "<Tab>1.50", '{"value":1.50}'),
        (str, NOTHING, "two<Enter>lines", '{"value":"two\\nlines"}'),
        (str, NOTHING, "👩‍👧 ü 名", '{"value":"👩‍👧 ü 名"}'),
        (str, NOTHING, "<Tab><Space>", '{"value":""}'),
        (str, "a", "<Tab><Space>", '{"value":"a"}'),
        (str, "a", "b<Backspace>", "{}"),
        (str, "a", "b<Backspace><Tab><Space>", '{"value":""}'),
        (int, 5, "", "{}"),
        (int, 5, "<Tab><Space>", '{"value":5}'),
        (int, 5, "6<Backspace>", "{}"),
        (bool, NOTHING, "f", '{"value":false}'),
        (bool, True, "t", '{"value":true}'),
        (str | None, NOTHING, "n", '{"value":null}'),
        (str | None, NOTHING, "<Tab>null", '{"value":"null"}'),
        (str | None, None, "", "{}"),
        (str | None, None, "n", '{"value":null}'),
        (str | None, None, "<Tab><Tab><Space>", '{"value":""}'),
        (int | str, NOTHING, "<Tab>5<Shift+Tab>t", '{"value":"5"}'),
        (Literal["one", "two"], NOTHING, "tw", '{"value":"two"}'),
        (Color | None, None, "<Tab>sk", '{"value":"sky blue"}'),
        (datetime.date, NOTHING, "2026-01-31", '{"value":"2026-01-31"}'),
        (SecretStr, NOTHING, "s3cret", '{"value":"s3cret"}'),
        (Any, NOTHING, '{"a": [1.0]}', '{"value":{"a":[1.0]}}'),
        (list[int], NOTHING, "", '{"value":[]}'),
        (list[int], NOTHING, "<Enter>1<Tab><Tab><Enter>2", '{"value":[1,2]}'),
        (list[int], NOTHING, "<Enter>1<Tab><Tab><Enter>2<Shift+Tab><Enter><Enter>", '{"value":[]}'),
        (list[str], NOTHING, "<Enter><Tab><Tab><Enter>a", '{"value":["","a"]}'),
        (tuple[int, str], NOTHING, "1<Tab>a", '{"value":[1,"a"]}'),
        (dict[str, int], NOTHING, "<Enter>__proto__<Tab>1", '{"value":{"__proto__":1}}'),
        (dict[str, int] | None, None, "<Space>", '{"value":{}}'),
        (Point, NOTHING, "1<Tab>2", '{"value":{"x":1,"y":2}}'),
        (PAY, NOTHING, "<Tab>4", '{"value":{"kind":"card","number":"4"}}'),
        (PAY, NOTHING, "t<Tab>DE<Tab>t", '{"value":{"kind":"transfer","iban":"DE","urgent":true}}'),
        (Tree, NOTHING, "a<Tab><Space><Enter>b", '{"value":{"name":"a","children":[{"name":"b"}]}}'),
        (Chain, NOTHING, "1", '{"value":{"item":1,"next":null}}'),
        (Chain, NOTHING, "1<Tab>C<Tab>2", '{"value":{"item":1,"next":{"item":2,"next":null}}}'),
    ],
)
def test_values_are_typed_by_keyboard_alone(page: Page, annotation: Any, default: Any, keys: str, text: str) -> None:
    """From the first field on, as JSON shows them afterwards."""
    open_form(page, make_probe(annotation) if default is NOTHING else make_probe(annotation, default=default))

    press(page, keys)

    assert call(page, "report") == {"text": text, "problems": []}
    assert page.evaluate("document.activeElement !== document.body")


@pytest.mark.parametrize(
    ("annotation", "keys", "problem"),
    [
        (int, "", {"path": ["value"], "message": "Required."}),
        (int, "1,5", {"path": ["value"], "message": "This is not an integer as JSON writes it."}),
        (float, "NaN", {"path": ["value"], "message": "This is not a number as JSON writes it."}),
        (list[int], "<Enter>", {"path": ["value", 0], "message": "Write an integer."}),
        (dict[str, bool], "<Enter>a", {"path": ["value", "a"], "message": "Choose one."}),
        (
            dict[str, int],
            "<Enter>a<Tab>1<Tab><Tab><Enter>a<Tab>2",
            {"path": ["value"], "message": "The key a is there twice."},
        ),
    ],
)
def test_what_cannot_be_sent_is_said_at_its_path(page: Page, annotation: Any, keys: str, problem: Any) -> None:
    """What is there but wrong is left to the server."""
    open_form(page, make_probe(annotation))

    press(page, keys)

    assert call(page, "report")["problems"] == [problem]


@tool
def place_order(
    who: str,
    order: Order,
    days: Annotated[int, Field(ge=1, le=14)] = 3,
    tags: list[str] | None = None,
    meta: dict[str, int] | None = None,
    price: decimal.Decimal | None = None,
    tree: Tree | None = None,
    note: Any = None,
    token: Annotated[SecretStr | None, Field(description="Secret.")] = None,
    **more: str,
) -> str:
    """Place an order.

    Args:
        who: Who orders.
        tags: What to find it by.
    """
    return f"{who} {order} {days} {tags} {meta} {price} {tree} {note} {token} {more}"


FULL = (
    '{"days": 15, "order": {"lines": [{"sku": "ABC-1"}, {"sku": "x", "amount": 0}], "pay": {"kind": "transfer",'
    ' "iban": 1}, "gift": {"zip": "1"}}, "tags": ["a", 2], "meta": {"a": "x"}, "price": [], "tree": {"name": "a",'
    ' "children": [{"name": 1}]}, "colour": 3}'
)


def test_errors_of_the_server_stand_at_their_fields(page: Page) -> None:
    """At any depth; what has no field of its own is said around it, with the rest of its path."""
    with ThreadPoolExecutor() as pool:
        answer = pool.submit(
            place_order.invoke, {"type": "tool_call", "name": "place_order", "args": json.loads(FULL), "id": "c"}
        )
    errors = answer.result().response_metadata["error"]["errors"]
    open_form(page, place_order, FULL)

    shown = call(page, "refuse", [{"path": it["loc"], "message": it["msg"]} for it in errors])

    assert all(is_linked for *_, is_linked in shown)
    assert [(name, text) for name, text, _ in shown] == [
        ("who", "Field required (string)"),
        ("sku", "Input should be a string, matching ^[A-Z]{3}-[0-9]+$ (Three capital letters, a dash, digits)"),
        ("amount", "Input should be an integer, at least 1, at most 99"),
        ("iban", "Input should be a string"),
        ("city", "Field required (string)"),
        ("days", "Input should be an integer, at least 1, at most 14"),
        ("tags[1]", "Input should be a string"),
        ("a", "Input should be an integer"),
        ("price", "Input should be a decimal number, such as 12.50"),
        ("name", "Input should be a string"),
        ("colour", "Input should be a string"),
    ]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ([], ""),
        (["nope"], "nope: "),
        (["order", "pay", "kind"], "kind: "),
        (["order", "lines", 7, "sku"], "[7].sku: "),
        (["note", "a", 0], "a[0]: "),
        (["tree", "children", 0, "more", 1], "more[1]: "),
    ],
)
def test_errors_without_a_field_say_the_rest_of_their_path(page: Page, path: list[Any], place: str) -> None:
    """At the field around them."""
    open_form(page, place_order, FULL)

    shown = call(page, "refuse", [{"path": path, "message": "Wrong"}])

    assert [(text, is_linked) for _, text, is_linked in shown] == [(f"{place}Wrong", True)]


def test_an_error_goes_when_its_field_changes(page: Page) -> None:
    """The others stay until the next answer, and the focus goes to the first."""
    open_form(page, make_probe(Point), '{"value": {"x": 1, "y": 2}}')
    call(
        page, "refuse", [{"path": ["value", "y"], "message": "Too few"}, {"path": ["value", "z"], "message": "Unknown"}]
    )
    page.evaluate("window.form.focus()")

    press(page, "3")

    assert page.locator(".error:visible").all_inner_texts() == ["z: Unknown"]
    assert call(page, "refuse", []) == []
    assert page.locator("[aria-invalid]").count() == 0


def test_a_form_that_is_off_shows_its_value_and_takes_nothing(page: Page) -> None:
    """As an approval is shown to one who may not decide."""
    open_form(page, place_order, FULL, disabled=True)

    assert page.locator("#place :is(input, textarea, select, button):enabled").count() == 0
    assert json.loads(call(page, "report")["text"]) == json.loads(FULL)


@pytest.mark.parametrize(("scheme", "value"), [("light", None), ("dark", FULL)])
def test_forms_are_accessible(page: Page, scheme: Literal["light", "dark"], value: str | None) -> None:
    """Empty and full, with an error, as axe sees it."""
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 900})
    open_form(page, place_order, value)
    call(page, "refuse", [{"path": ["order", "lines", 0, "sku"], "message": "Wrong"}])

    found = Axe().run(page, options={"rules": {"target-size": {"enabled": True}}}).response["violations"]

    assert [(it["id"], it["nodes"][0]["html"]) for it in found] == []


@pytest.mark.parametrize("width", [320, 390, 1360])
def test_forms_fit_any_width(page: Page, width: int) -> None:
    """Also with long words in them."""
    page.set_viewport_size({"width": width, "height": 900})
    open_form(page, place_order, FULL)
    call(page, "refuse", [{"path": ["order", "lines", 0, "sku"], "message": "Wrong" * 50}])

    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_browser_that_rounds_numbers_says_so(page: Page) -> None:
    """And takes none that it would round."""
    with open_another(page, "delete JSON.rawJSON; delete JSON.isRawJSON") as old:
        open_form(old, make_probe(list[int] | int), '{"value": 5}')
        said = old.locator("[role=note]").inner_text()
        press(old, "<Tab><Control+a>12345678901234567890")
        report = call(old, "report")

    assert said == "This browser rounds numbers of more than 15 digits. A newer one does not."
    assert report["problems"] == [{"path": ["value"], "message": "This browser would round this number."}]
