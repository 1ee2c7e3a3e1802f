"""Only sections of parameters, results and errors leave the text; every other block stays."""

import pytest

from sidecall.compiler.docstrings import Docstring, parse_docstring

BLOCKS = {
    "important": "Important:\n    Never call this twice.",
    "several words": "When to use:\n    After the search, with its ids.",
    "a question": "Why would I use this?:\n    To refund.",
    "examples": "Examples:\n    >>> refund(7)\n    'done'",
    "example": "Example:\n    refund(7)",
    "note": "Note:\n    Slow.",
    "warning with a title": "Warning: handle with care\n    It deletes.",
    "warnings": "Warnings:\n    It deletes.",
    "attributes": "Attributes:\n    size: How many there are.",
    "see also": "See Also:\n    refund_all",
    "todo": "Todo:\n    * Nothing.",
    "German": "Wichtig:\n    Nur einmal aufrufen.",
    "Chinese": "重要\uff1a\n    只调用一次。",
    "Chinese, with the colon of ASCII": "注意:\n    只调用一次。",
    "Russian": "Важно:\n    Только один раз.",
    "items at the margin": "Rules:\n- Once.\n- With care.",
    "nested": "Limits:\n    per day:\n        At most 3.",
    "a NumPy title": "Notes\n-----\nIt is slow.",
    "a NumPy title of its examples": "Examples\n--------\n>>> refund(7)",
    "a directive": ".. note::\n    It is slow.",
    "a field": ":Example: refund(7)",
    "Markdown": "## When to use\n\nAfter the search.",
    "a fence that holds headings": "```\nArgs:\n    a: Not this.\n\nReturns:\n    Nor this.\n```",
    "a fence of tildes": "~~~text\n:param a: Not this.\nParameters\n----------\na : int\n~~~",
    "a paragraph": "It is slow, so call it rarely.",
}
STYLES = {
    "google": ("Args:\n    a (int): The first.\n    b: The other,\n        or none.", "Returns:\n    The sum."),
    "google, unlabelled": ("Args:\n    a: The first.\n\n    b: The other,\n        or none.", "Returns:\n    The sum."),
    "numpy": (
        "Parameters\n----------\na : int\n    The first.\nb\n    The other,\n    or none.",
        "Returns\n-------\nint\n    The sum.",
    ),
    "sphinx": (":param int a: The first.\n:param b: The other,\n    or none.", ":returns: The sum."),
}
PARAMETERS = {"a": "The first.", "b": "The other,\nor none."}


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("block", BLOCKS)
@pytest.mark.parametrize("place", range(4))
def test_a_block_stays_wherever_it_stands(style: str, block: str, place: int) -> None:
    """Before the text, before the sections, between them or behind them."""
    text = BLOCKS[block]
    parts = ["Refund an order.", *STYLES[style]]
    parts.insert(place, text)

    read = parse_docstring("\n\n".join(parts), ("a", "b"))

    described = f"{text}\n\nRefund an order." if place == 0 else f"Refund an order.\n\n{text}"
    assert read == Docstring(described, PARAMETERS, "The sum.")


@pytest.mark.parametrize(
    "heading",
    "Args,Arguments,Params,Parameters,Keyword Args,Keyword Arguments,Other Parameters,Returns,Return,Raises,Exceptions,"
    "Yields,args,RETURNS".split(","),
)
def test_a_section_of_parameters_results_or_errors_is_taken_out(heading: str) -> None:
    """Its items are no text for the model: it reads them at the parameters."""
    text = f"Refund it.\n\n{heading}:\n    x: What it says.\n\nImportant:\n    Once."

    assert parse_docstring(text, ("x",)).description == "Refund it.\n\nImportant:\n    Once."


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("a (:obj:`str`, optional): The first.", "The first."),
        ("a (dict[str: int]): The first.", "The first."),
        ("a (Literal['x: y']): The first.", "The first."),
        ("a (Callable[[int], str]): The first: one.", "The first: one."),
        ("a (tuple(int, :class:`B`)): The first.", "The first."),
        ("*a (:obj:`str`): The first.", "The first."),
        ("a (int): The first (or: the last).", "The first (or: the last)."),
        ("a: The first (see: below).", "The first (see: below)."),
    ],
)
def test_a_type_with_a_colon_keeps_the_meaning_behind_it(item: str, expected: str) -> None:
    """Sphinx's own example of Google's style has such types."""
    assert parse_docstring(f"Do it.\n\nArgs:\n    {item}\n    b: B.", ("a", "b")).parameters == {
        "a": expected,
        "b": "B.",
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "Do it.\n\nArgs:\nnothing is an item here", "Do it.\n\nArgs:\nnothing is an item here", id="no items"
        ),
        pytest.param("Do it.\n\nArgs:\n\nMore.", "Do it.\n\nMore.", id="empty"),
        pytest.param("Do it.\n\nReturns:\nThe sum.", "Do it.\n\nReturns:\nThe sum.", id="not indented"),
        pytest.param(
            "Do it.\n\nArgs:\na: A.\nImportant: once.", "Do it.\n\nArgs:\na: A.\nImportant: once.", id="flat, unknown"
        ),
        pytest.param(
            "Do it.\n\nSo:\n    Args:\n        a: A.", "Do it.\n\nSo:\n    Args:\n        a: A.", id="indented"
        ),
        pytest.param(
            "Do it.\n\n:param a: A.\n\nMore.\n\n:param b: B.\n\nEnd.", "Do it.\n\nMore.\n\nEnd.", id="in between"
        ),
        pytest.param("Do it.\n\n:param a: A.\n:meta private:", "Do it.", id="a field that no reader sees"),
    ],
)
def test_what_is_no_section_stays(text: str, expected: str) -> None:
    """A heading alone does not make one."""
    names = () if "Important: once" in text else ("a", "b")

    assert parse_docstring(text, names or ("x",)).description == expected
