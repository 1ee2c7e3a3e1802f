"""Work out arithmetic, without running any code of the model's."""

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from sidecall import ToolException, tool

Number = int | float

MAX_LENGTH = 1000
MAX_DEPTH = 50
MAX_DIGITS = 4000
# Python refuses to write integers of more than 4300 digits, and work on them would hold up the event loop.
INTEGER_LIMIT = 10**MAX_DIGITS
TOO_LARGE = f"The result, or a step on the way to it, is too large (more than {MAX_DIGITS} digits or about 1.8e308)."


@tool(executor="inline", tags=["math"], annotations={"read_only": True})
def calculator(expression: str) -> Number:
    """Work out an arithmetic expression, such as (9 * 9 - 2 * 2) / 7.

    It knows + - * / // % and ** (power), parentheses, the constants pi, e and tau, and the functions abs, acos, asin,
    atan, ceil, cos, exp, factorial, floor, log, log10, log2, max, min, round, sin, sqrt and tan. Angles are in radians;
    log(x) is the natural logarithm, log(x, b) the one to the base b. There are no variables.

    Args:
        expression: What to work out, in Python's notation, at most 1000 characters.
    """
    try:
        return _evaluate(_parse(expression), 0)
    except ZeroDivisionError:
        raise ToolException("Division by zero.") from None
    except OverflowError:
        raise ToolException(TOO_LARGE) from None
    except ValueError:
        text = "A function was given a number outside its domain, as in sqrt(-1), log(0) or acos(2)."
        raise ToolException(text) from None


def _parse(expression: str) -> ast.expr:
    if len(expression) > MAX_LENGTH:
        raise ToolException(f"The expression is too long: at most {MAX_LENGTH} characters. Work it out in parts.")
    try:
        return ast.parse(expression.strip(), mode="eval").body
    except SyntaxError as error:
        raise ToolException(f"This is not an arithmetic expression: {error.msg}. {_ALLOWED}") from None
    except (ValueError, MemoryError, RecursionError):
        # Null bytes and lone surrogates are ValueErrors; how deep nesting fails depends on Python's version.
        raise ToolException(f"This is not an arithmetic expression, or it is nested too deeply. {_ALLOWED}") from None


def _evaluate(node: ast.expr, depth: int) -> Number:
    if depth > MAX_DEPTH:
        raise ToolException(f"The expression is nested too deeply: at most {MAX_DEPTH} levels. Work it out in parts.")
    step = _STEPS.get(type(node))
    if step is None:
        raise ToolException(_refusal(node))
    return _check(step(node, depth + 1))


def _check(value: Any) -> Number:
    if isinstance(value, int) and abs(value) < INTEGER_LIMIT:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, complex):
        raise ToolException("The result is not a real number: a negative number has no fractional power.")
    raise OverflowError


def _constant(node: ast.Constant, _: int) -> Number:
    if isinstance(node.value, bool) or not isinstance(node.value, (int, float)):
        raise ToolException(f"Only integers and decimal numbers can be worked with. {_ALLOWED}")
    return node.value


def _name(node: ast.Name, _: int) -> Number:
    if node.id in _FUNCTIONS:
        raise ToolException(f"`{node.id}` is a function: write {node.id}(...).")
    if node.id not in _CONSTANTS:
        raise ToolException(f"There is no `{node.id}`. {_ALLOWED}")
    return _CONSTANTS[node.id]


def _unary(node: ast.UnaryOp, depth: int) -> Number:
    sign = _SIGNS.get(type(node.op))
    if sign is None:
        raise ToolException(f"This operator is not supported. {_ALLOWED}")
    return sign(_evaluate(node.operand, depth))


def _binary(node: ast.BinOp, depth: int) -> Number:
    """Work out a chain such as 1 + 2 - 3 from its left end, so that a long sum needs no deep recursion."""
    chain = [node]
    while isinstance(chain[-1].left, ast.BinOp):
        chain.append(chain[-1].left)
    value = _evaluate(chain[-1].left, depth)
    for link in reversed(chain):
        value = _check(_operator(link.op)(value, _evaluate(link.right, depth)))
    return value


def _operator(kind: ast.operator) -> Callable[[Any, Any], Any]:
    if isinstance(kind, ast.BitXor):
        raise ToolException("`^` is not supported: a power is written with `**`, as in 2 ** 10.")
    if type(kind) not in _OPERATORS:
        raise ToolException(f"This operator is not supported. {_ALLOWED}")
    return _OPERATORS[type(kind)]


def _call(node: ast.Call, depth: int) -> Number:
    if not isinstance(node.func, ast.Name):
        raise ToolException(f"Only functions can be called; a product needs its `*`, as in 2 * (3 + 4). {_ALLOWED}")
    function = _FUNCTIONS.get(node.func.id)
    if function is None:
        raise ToolException(f"There is no function `{node.func.id}`. {_ALLOWED}")
    if node.keywords:
        raise ToolException(f"`{node.func.id}` takes its numbers by position, not by keyword.")
    if not function.least <= len(node.args) <= function.most:
        raise ToolException(f"`{node.func.id}` takes {function.takes}, not {len(node.args)}.")
    return _check(function.call(*(_evaluate(argument, depth) for argument in node.args)))


def _power(base: Number, exponent: Number) -> Any:
    if isinstance(base, int) and isinstance(exponent, int):
        # A lower bound of the result's bits, since to raise first and to measure then may take for ever.
        least_bits = (abs(base).bit_length() - 1) * exponent
        if least_bits > INTEGER_LIMIT.bit_length():
            raise OverflowError
    return base**exponent


def _factorial(value: Number) -> int:
    return math.factorial(_whole("factorial", value, 0, 1000))


def _round(value: Number, digits: Number = 0) -> Number:
    places = _whole("The second number of round", digits, -MAX_DIGITS, MAX_DIGITS)
    return round(value, places) if places else round(value)


def _whole(subject: str, value: Number, least: int, most: int) -> int:
    if value != int(value) or not least <= value <= most:
        raise ToolException(f"{subject} takes a whole number from {least} to {most}.")
    return int(value)


def _refusal(node: ast.expr) -> str:
    if isinstance(node, ast.Tuple):
        return "A comma stands only between the numbers of a function; write numbers without thousands separators."
    return f"Only arithmetic can be worked out. {_ALLOWED}"


class _Function(NamedTuple):
    call: Callable[..., Any]
    least: int = 1
    most: int = 1

    @property
    def takes(self) -> str:
        """How many numbers, in words."""
        if self.most == MAX_LENGTH:
            return f"{self.least} or more numbers"
        return f"{self.least} or {self.most} numbers" if self.most > self.least else "1 number"


_CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e, "tau": math.tau}

_FUNCTIONS: Mapping[str, _Function] = {
    "abs": _Function(abs),
    "acos": _Function(math.acos),
    "asin": _Function(math.asin),
    "atan": _Function(math.atan),
    "ceil": _Function(math.ceil),
    "cos": _Function(math.cos),
    "exp": _Function(math.exp),
    "factorial": _Function(_factorial),
    "floor": _Function(math.floor),
    "log": _Function(math.log, 1, 2),
    "log10": _Function(math.log10),
    "log2": _Function(math.log2),
    "max": _Function(max, 2, MAX_LENGTH),
    "min": _Function(min, 2, MAX_LENGTH),
    "round": _Function(_round, 1, 2),
    "sin": _Function(math.sin),
    "sqrt": _Function(math.sqrt),
    "tan": _Function(math.tan),
}

_SIGNS: Mapping[type[ast.unaryop], Callable[[Any], Number]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}

_OPERATORS: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: _power,
}

_STEPS: Mapping[type[ast.expr], Callable[[Any, int], Number]] = {
    ast.BinOp: _binary,
    ast.Call: _call,
    ast.Constant: _constant,
    ast.Name: _name,
    ast.UnaryOp: _unary,
}

_ALLOWED = (
    "Allowed are numbers, + - * / // % ** and parentheses, "
    f"the constants {', '.join(_CONSTANTS)}, and the functions {', '.join(_FUNCTIONS)}."
)
