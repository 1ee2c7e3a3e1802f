"""JSON values are read and shown without a loss: as text, as a tree, as differences."""

import json
from typing import Any

import pytest
from playwright.sync_api import Page

from tests.kit.forms.pages import call

NUMBERS = (
    "0 -0 -0.0 1 -7 12345678901234567890 1234567890123456789012345678901234567890 9007199254740993 1e300 1E300 1e400"
    " 1e-400 1.0 1.50 0.1 0.10 0.000001 0.0000001 123456789.123456789 5e-324 0.30000000000000004"
    " 0.1000000000000000055511151231257827 -1.5e+10 100 1e2"
).split()


@pytest.mark.parametrize("indent", [None, 2])
def test_numbers_keep_every_digit(page: Page, indent: int | None) -> None:
    """Between signs, texts that look like numbers, and keys that do."""
    pairs = [f'"{number}": {number}, "x{number}": "{number}"' for number in NUMBERS]
    text = f'{{{", ".join(pairs)}, "list": [{", ".join(NUMBERS)}], "__proto__": {{"a": 1.0}}}}'

    written = page.evaluate("([text, indent]) => kit.stringify(kit.parse(text), indent)", [text, indent])

    def keep(pairs: list[tuple[str, Any]]) -> list[tuple[str, Any]]:
        return sorted(pairs, key=lambda pair: pair[0])

    assert json.loads(written, parse_int=str, parse_float=str, object_pairs_hook=keep) == json.loads(
        text, parse_int=str, parse_float=str, object_pairs_hook=keep
    )


@pytest.mark.parametrize("text", ["", "01", "1.", ".5", "+1", "NaN", "[1,]", "{a: 1}", "'a'", "1 2", '"\n"'])
def test_what_is_no_json_is_refused(page: Page, text: str) -> None:
    """As everywhere."""
    assert (
        page.evaluate("(text) => { try { kit.parse(text); return null } catch (error) { return error.name } }", text)
        == "SyntaxError"
    )


def test_a_tree_opens_level_by_level(page: Page) -> None:
    """With its first level open, by mouse or keyboard; texts are never markup."""
    text = '{"a": {"b": [1.50, null, true, {}]}, "<b>c</b>": "<img src=x>\\n", "": [], "n": 12345678901234567890}'

    call(page, "showTree", text, {"name": "answer"})
    first = page.locator(".tree").inner_text()
    page.locator("summary").nth(1).focus()
    page.keyboard.press("Enter")
    page.locator("summary").nth(2).focus()
    page.keyboard.press("Enter")
    page.get_by_text("1.50", exact=True).wait_for()

    assert first.split("\n") == [
        "{ 4 keys }",
        "a: { 1 key } b: […]",
        '"<b>c</b>": "<img src=x>\\n"',
        '"": []',
        "n: 12345678901234567890",
    ]
    assert page.locator(".tree .leaf").all_inner_texts()[:4] == ["0: 1.50", "1: null", "2: true", "3: {}"]


def test_long_lists_come_in_parts(page: Page) -> None:
    """Two hundred at once, and the focus goes to where they begin."""
    call(page, "showTree", json.dumps([[number] for number in range(450)]), {})

    counts = []
    while (more := page.locator(".tree button")).count():
        counts.append((page.locator(".tree details details").count(), more.inner_text()))
        more.press("Enter")

    assert counts == [(200, "Show 200 more of 250"), (400, "Show 50 more of 50")]
    assert page.locator(".tree details details").count() == 450
    assert page.evaluate("document.activeElement.innerText").startswith("400: ")


def test_long_texts_are_cut_and_say_so(page: Page) -> None:
    """The rest comes when asked for, itself with an end."""
    call(page, "showTree", json.dumps(["x" * 300_000]), {})
    short = page.locator(".tree .string").inner_text()
    page.locator(".tree button").press("Enter")

    assert len(short) == 1_002
    assert page.locator(".tree .note").inner_text() == "The first 256,000 of 300,000 characters are shown."
    assert page.evaluate("document.activeElement.innerText.length") == 256_000


@pytest.mark.parametrize(
    ("start", "piece", "count", "end", "note"),
    [
        ("no JSON: ", "<b>", 1, "", "This is not JSON."),
        ("[" * 10_000 + "1.0", "]", 10_000, "", "This is nested too deeply for a tree."),
        (
            '["',
            "ten chars.",
            1_000_000,
            '"]',
            "10,000,004 characters are too many for a tree. The first 256,000 of 10,000,004 characters are shown.",
        ),
    ],
)
def test_what_is_no_tree_is_a_text(page: Page, start: str, piece: str, count: int, end: str, note: str) -> None:
    """And the page says why."""
    call(page, "showMany", start, piece, count, end)

    assert page.locator(".tree .note").inner_text() == note
    assert page.evaluate("document.querySelector('.tree pre').textContent") == (start + piece * count + end)[:256_000]


def test_what_is_deep_opens_as_far_as_one_goes(page: Page) -> None:
    """Ten thousand levels are as quick as one."""
    call(page, "showMany", '{"a":' * 10_000 + "1", "}", 10_000, "")

    assert page.locator(".tree details").count() == 2


@pytest.mark.parametrize(
    ("before", "after", "rows"),
    [
        ('{"a": 1}', '{"a": 1}', []),
        ('{"a": 1, "b": [1]}', '{"b": [1], "a": 1}', []),
        ('{"a": 1}', '{"a": 1.0}', [(["a"], "changed", "1", "1.0")]),
        (
            '{"a": 12345678901234567890}',
            '{"a": 12345678901234567891}',
            [(["a"], "changed", "12345678901234567890", "12345678901234567891")],
        ),
        ('{"a": null}', "{}", [(["a"], "removed", "null", None)]),
        ("{}", '{"a": ""}', [(["a"], "added", None, '""')]),
        (
            '{"a": {"b": [1, {"c": "x"}]}}',
            '{"a": {"b": [1, {"c": "y"}, 3]}}',
            [(["a", "b", 1, "c"], "changed", '"x"', '"y"'), (["a", "b", 2], "added", None, "3")],
        ),
        ('{"a": [1]}', '{"a": {"0": 1}}', [(["a"], "changed", "[1]", '{"0":1}')]),
        (
            '{"__proto__": 1}',
            '{"constructor": 1}',
            [(["__proto__"], "removed", "1", None), (["constructor"], "added", None, "1")],
        ),
        ("[]", "null", [([], "changed", "[]", "null")]),
    ],
)
def test_differences_say_where_and_what(page: Page, before: str, after: str, rows: list[Any]) -> None:
    """Absent, null and empty are three."""
    assert [tuple(row) for row in call(page, "differ", before, after)] == rows


def test_differences_are_a_table(page: Page) -> None:
    """Whose cells say what was not sent."""
    call(page, "compare", '{"a": {"b": 1}, "c": null}', '{"a": {"b": 2, "d": "<b>"}}')

    rows = page.locator(".differences tr").all()
    assert [row.locator("th, td").all_inner_texts() for row in rows] == [
        ["where", "before", "after"],
        ["a.b changed", "1", "2"],
        ["a.d added", "not sent", '"<b>"'],
        ["c removed", "null", "not sent"],
    ]


def test_many_differences_are_cut(page: Page) -> None:
    """And the page says so."""
    call(page, "compare", json.dumps(list(range(600))), json.dumps(list(range(1, 601))))

    assert page.locator(".differences tbody tr").count() == 500
    assert page.locator(".differences p").inner_text() == "Only the first 500 differences are shown."
