"""The calculator works out arithmetic, and refuses all else quickly and with advice."""

from typing import Any

import pytest

from sidecall import ToolException, ToolMessage
from tests.kit.calls import run
from tests.tools import shipped

calculator = shipped.load("calculator").calculator
ALLOWED = (
    "Allowed are numbers, + - * / // % ** and parentheses, the constants pi, e, tau, and the functions abs, acos, "
    "asin, atan, ceil, cos, exp, factorial, floor, log, log10, log2, max, min, round, sin, sqrt, tan."
)
TOO_LARGE = "The result, or a step on the way to it, is too large (more than 4000 digits or about 1.8e308)."
TOO_LONG = "The expression is too long: at most 1000 characters. Work it out in parts."
TOO_DEEP = "The expression is nested too deeply: at most 50 levels. Work it out in parts."
NOT_ARITHMETIC = f"Only arithmetic can be worked out. {ALLOWED}"
NOT_A_NUMBER = f"Only integers and decimal numbers can be worked with. {ALLOWED}"
UNSUPPORTED = f"This operator is not supported. {ALLOWED}"
OUTSIDE = "A function was given a number outside its domain, as in sqrt(-1), log(0) or acos(2)."
COMMA = "A comma stands only between the numbers of a function; write numbers without thousands separators."
FACTORIAL = "factorial takes a whole number from 0 to 1000."
ROUND = "The second number of round takes a whole number from -4000 to 4000."


async def calculate(expression: str) -> ToolMessage:
    """Call the tool as a model does."""
    return await run(calculator, {"expression": expression})


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("(9 * 9 - 2 * 2) / 7", "11.0"),  # division gives a decimal number
        ("7 // 2", "3"),
        ("-7 % 3", "2"),  # as in Python, the sign is the divisor's
        ("2 ** 10", "1024"),
        ("2 ** 3 ** 2", "512"),  # powers bind to the right
        ("10 - 3 - 2", "5"),  # all else to the left
        ("-2 ** 2", "-4"),
        ("+(-(3))", "-3"),
        ("2 ** -1", "0.5"),
        ("1_000 * 2.5", "2500.0"),
        ("(1 +\n1)", "2"),
        ("pi", "3.141592653589793"),
        ("tau / pi - e / e", "1.0"),
        ("sqrt(16) + abs(-2)", "6.0"),
        ("round(2.567, 2)", "2.57"),
        ("round(2.5)", "2"),  # an integer, halves go to the even one
        ("round(1234, -2)", "1200"),
        ("min(3, 1, 2) + max(1, 2)", "3"),
        ("sin(0) + cos(0) + tan(0)", "1.0"),
        ("asin(0) + acos(1) + atan(0)", "0.0"),
        ("log(e) + log10(100) + log2(8)", "6.0"),
        ("log(8, 2)", "3.0"),
        ("exp(0)", "1.0"),
        ("floor(2.7) + ceil(2.1)", "5"),
        ("factorial(6 / 2)", "6"),  # a whole number is one, however it is written
        ("1 ** 9 ** 9", "1"),  # a huge exponent that does no harm
        ("9 ** -9 ** 9", "0.0"),
        ("10 ** 400 // 10 ** 399", "10"),
        ("+".join(["1"] * 500), "500"),  # a long sum
        ("(" * 150 + "1" + ")" * 150, "1"),  # parentheses alone are no depth
        ("10 ** 3999", "1" + "0" * 3999),  # the largest power of ten
    ],
)
async def test_arithmetic_is_worked_out(expression: str, result: str) -> None:
    """The result is JSON: integers stay integers."""
    message = await calculate(expression)

    assert message.content == result
    assert message.status == "success"


@pytest.mark.parametrize(
    ("expression", "content"),
    [
        ("9 ** 9 ** 9", TOO_LARGE),
        ("(-9) ** 9 ** 9", TOO_LARGE),
        ("*".join(["9**999"] * 140), TOO_LARGE),  # each factor is allowed
        ("10 ** 4000", TOO_LARGE),  # one digit more than is shown
        ("0x" + "f" * 900 + " ** 4", TOO_LARGE),
        ("1e999", TOO_LARGE),  # Python reads it as infinity
        ("1e308 * 10", TOO_LARGE),
        ("1e308 + 1e308", TOO_LARGE),
        ("10.0 ** 400", TOO_LARGE),
        ("10 ** 3999 / 1.0", TOO_LARGE),  # no decimal number is as large
        ("exp(1000)", TOO_LARGE),
        ("factorial(10 ** 9)", FACTORIAL),
        ("factorial(-1)", FACTORIAL),
        ("factorial(2.5)", FACTORIAL),
        ("round(5, -10 ** 9)", ROUND),  # Python would work out 10 ** 10 ** 9
        ("round(5, 0.5)", ROUND),
        ("(" * 10_000, TOO_LONG),
        ("-" * 10_000 + "1", TOO_LONG),
        ("1+" * 10_000 + "1", TOO_LONG),
        ("-" * 900 + "1", TOO_DEEP),
        ("2**" * 300 + "1", TOO_DEEP),
        ("abs(" * 100 + "1" + ")" * 100, TOO_DEEP),
        ("1 / 0", "Division by zero."),
        ("1 // 0.0", "Division by zero."),
        ("1 % 0", "Division by zero."),
        ("0 ** -1", "Division by zero."),
        ("(-1) ** 0.5", "The result is not a real number: a negative number has no fractional power."),
        ("sqrt(-1)", OUTSIDE),
        ("log(0)", OUTSIDE),
    ],
)
async def test_what_has_no_result_is_refused(expression: str, content: str) -> None:
    """Results are real, finite, and short enough to be written, and so is every step."""
    message = await calculate(expression)

    assert message.content == content
    assert message.status == "error"
    assert message.response_metadata["error"]["kind"] == "tool_error"


@pytest.mark.parametrize(
    ("expression", "content"),
    [
        ("2 ^ 10", "`^` is not supported: a power is written with `**`, as in 2 ** 10."),
        ("1 << 4", UNSUPPORTED),
        ("~1", UNSUPPORTED),
        ("not 1", UNSUPPORTED),
        ("x + 1", f"There is no `x`. {ALLOWED}"),
        ("sqrt", "`sqrt` is a function: write sqrt(...)."),
        ("__import__('os')", f"There is no function `__import__`. {ALLOWED}"),
        ("pi(2)", f"There is no function `pi`. {ALLOWED}"),
        ("2(3 + 4)", f"Only functions can be called; a product needs its `*`, as in 2 * (3 + 4). {ALLOWED}"),
        ("round(1.5, ndigits=1)", "`round` takes its numbers by position, not by keyword."),
        ("sin()", "`sin` takes 1 number, not 0."),
        ("log(1, 2, 3)", "`log` takes 1 or 2 numbers, not 3."),
        ("min(1)", "`min` takes 2 or more numbers, not 1."),
        ("max(1, *[2])", NOT_ARITHMETIC),
        ("(1).real", NOT_ARITHMETIC),
        ("pi[0]", NOT_ARITHMETIC),
        ("lambda: 1", NOT_ARITHMETIC),
        ("[x for x in y]", NOT_ARITHMETIC),
        ("1 < 2", NOT_ARITHMETIC),
        ("1 if 1 else 2", NOT_ARITHMETIC),
        ("(x := 3)", NOT_ARITHMETIC),
        ("'9' * 9", NOT_A_NUMBER),
        ("True + 1", NOT_A_NUMBER),
        ("2j", NOT_A_NUMBER),
        ("1,000 + 1", COMMA),
    ],
)
async def test_what_is_not_arithmetic_is_refused(expression: str, content: str) -> None:
    """The text says what to write instead."""
    message = await calculate(expression)

    assert message.content == content
    assert message.status == "error"
    assert message.response_metadata["error"]["kind"] == "tool_error"


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "1 +",
        "x = 1",  # a statement
        "2 \N{MULTIPLICATION SIGN} 3",
        "import os",
        "(" * 450 + "1" + ")" * 450,  # deeper than Python reads
        "1 \0",
    ],
)
async def test_what_python_cannot_read_is_refused(expression: str) -> None:
    """Python's own reason is passed on; its words differ from version to version."""
    message = await calculate(expression)

    content: Any = message.content
    assert content.startswith("This is not an arithmetic expression")
    assert content.endswith(ALLOWED)
    assert message.status == "error"


def test_text_that_has_no_encoding_is_refused() -> None:
    """A call of the plain function gets past the server's own check of texts."""
    with pytest.raises(ToolException, match=r"^This is not an arithmetic expression, or it is nested too deeply"):
        calculator("\ud800")


def test_the_calculator_runs_on_the_event_loop() -> None:
    """It is quick and bounded, so a thread would only cost time."""
    assert calculator.compiled.executor == "inline"
