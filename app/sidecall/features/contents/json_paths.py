"""Find values in JSON by a path (RFC 9535), with bounds on everything, since paths are untrusted."""

import time
from collections.abc import Iterable
from typing import Any

from jsonpath import CompoundJSONPath, JSONPathEnvironment, JSONPathError, JSONPathMatch
from jsonpath.filter import BaseExpression, FilterQuery
from jsonpath.segments import JSONPathSegment
from jsonpath.selectors import Filter

from sidecall.kernel.json_data.text import MOST_AT_ONCE, holds_more, parse_json

# Bytes of the searched JSON, as large as an artifact may be.
MOST_BYTES = 16 * 1024 * 1024
MOST_FOUND = 1000
# Maximum visited places, comparisons and seconds.
MOST_STEPS = 1_000_000
_SECONDS = 5.0


class PathError(ValueError):
    """What is wrong with a path, or with looking for it here."""


def find_values(body: bytes, path: str) -> list[Any]:
    """Return the values that a path finds, in their order.

    Raises:
        PathError: It is no path, finds too much or takes too long, or the body is not JSON.
    """
    if len(body) > MOST_BYTES:
        raise PathError(f"the content has {len(body)} bytes; paths are for up to {MOST_BYTES}")
    if not path.startswith("$"):
        raise PathError("a path begins with $, as in $.items[0].name")
    if holds_more(body, MOST_AT_ONCE):
        raise PathError(f"the content has more than {MOST_AT_ONCE:,} values; read it with `lines` or `grep`")
    try:
        plain = parse_json(body, most=None)
    except ValueError as error:
        raise PathError(f"the content is not JSON: {error}") from None
    try:
        return _find(_Environment(), path, plain)
    except JSONPathError as error:
        raise PathError(str(error).partition("\n")[0]) from None
    except PathError:
        raise
    except (RecursionError, OverflowError, ValueError):  # The library reads an index such as 1e999 with int().
        raise PathError("it is nested too deeply, or has a number out of range") from None


def _find(environment: "_Environment", path: str, plain: Any) -> list[Any]:
    compiled = environment.compile(path)
    assert not isinstance(compiled, CompoundJSONPath)  # Extensions that RFC 9535 does not have.
    nodes: Iterable[JSONPathMatch] = [environment.make_root(plain)]
    for segment in compiled.segments:
        _refuse_searches(segment)
        nodes = segment.resolve(nodes)
    found: list[Any] = []
    for node in nodes:
        if len(found) == MOST_FOUND:
            raise PathError(f"it finds more than {MOST_FOUND} values; ask for fewer, such as [0:10]")
        found.append(node.obj)
    return found


def _refuse_searches(segment: JSONPathSegment) -> None:
    """Refuse filters with searches of their own at each place, which would not be counted."""
    waiting: list[BaseExpression] = [it.expression for it in segment.selectors if isinstance(it, Filter)]
    while waiting:
        expression = waiting.pop()
        if isinstance(expression, FilterQuery) and not expression.path.singular_query():
            raise PathError("in a filter, a path leads to one place, as in [?@.price > 10]")
        waiting += expression.children()


class _Environment(JSONPathEnvironment):
    """The functions and bounds of a path; without `match` and `search`, whose patterns could run without end."""

    max_recursion_depth = 200

    def __init__(self) -> None:
        super().__init__(strict=True)
        self._steps = 0
        self._end = time.monotonic() + _SECONDS

    def make_root(self, plain: Any) -> JSONPathMatch:
        """Make the place where a path begins."""
        take_step = self.take_step

        class Place(JSONPathMatch):
            """A place of constant size at any depth: it holds neither its path nor its descendants."""

            __slots__ = ()

            def add_child(self, *children: JSONPathMatch) -> None:
                pass

            def new_child(self, obj: object, key: int | str) -> JSONPathMatch:  # noqa: ARG002  # as it is called
                take_step()
                return Place(filter_context={}, obj=obj, parent=None, path="", parts=(), root=plain)

        return Place(filter_context={}, obj=plain, parent=None, path="", parts=(), root=plain)

    def setup_function_extensions(self) -> None:
        """Register the functions that take no pattern."""
        super().setup_function_extensions()
        del self.function_extensions["match"], self.function_extensions["search"]

    def take_step(self) -> None:
        """Count a step.

        Raises:
            PathError: It was one too many, or took too long.
        """
        self._steps += 1
        if self._steps > MOST_STEPS or time.monotonic() > self._end:
            raise PathError("it takes too long; say more exactly where to look")

    def compare(self, left: object, operator: str, right: object) -> bool:
        """Compare like the base class, and count it."""
        self.take_step()
        return super().compare(left, operator, right)

    def is_truthy(self, obj: object) -> bool:
        """Test like the base class, and count it."""
        self.take_step()
        return super().is_truthy(obj)
