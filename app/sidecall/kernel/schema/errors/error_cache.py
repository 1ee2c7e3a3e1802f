"""Cache error messages of arguments that do not depend on what was sent, once for all calls of a tool."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pydantic_core import ErrorDetails

from sidecall.kernel.core.field_errors import FieldError, write_lines
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.errors.entries import list_members
from sidecall.kernel.schema.errors.validation_errors import locate
from sidecall.kernel.schema.explain import format_errors

_MISSING = "missing"
# How pydantic's rules end that a value of another type breaks. What it says of complex numbers is no such rule.
_OF_TYPE, _COMPLEX = "_type", "complex_"
# Values of these are never mended: texts may stand for something else, and so may null and numbers with a dot.
_UNMENDED = frozenset((bool, int, list, dict))
# Authors' own rules may have any names.
_MOST_KEPT = 500


class CachedError(NamedTuple):
    """The entry of a fault, and its line for the model."""

    entry: FieldError
    line: str


class ErrorCache:
    """Keeps the error of an argument that is missing, or has a type that nothing can be read from.

    Such an error is not repaired, and its text does not repeat what was sent. Only single errors of the outermost names
    are cached, which are most errors and few to keep. `None` is kept for those that need a closer look.
    """

    def __init__(self, root: Schema) -> None:
        """Explain by the schema of the arguments."""
        self._root = root
        self._names = frozenset(root.get("properties", ()))
        self._is_object = len(list_members(root, root)) == 1
        self._known: dict[tuple[str, str], CachedError | None] = {}

    def find(self, detail: ErrorDetails, data: Mapping[str, Any]) -> CachedError | None:
        """Return what is said of the only fault of these arguments; None if they need a closer look."""
        kind, loc = detail["type"], detail["loc"]
        if len(loc) != 1 or not self._is_object or not isinstance(name := loc[0], str):
            return None
        if kind == _MISSING:
            # All of them may be inside of something else.
            if data and self._names.isdisjoint(data):
                return None
        elif type(data.get(name)) not in _UNMENDED:
            return None
        key = name, kind
        try:
            return self._known[key]
        except KeyError:
            found = self._explain(detail, data)
            if len(self._known) < _MOST_KEPT:
                self._known[key] = found
            return found

    def _explain(self, detail: ErrorDetails, data: Mapping[str, Any]) -> CachedError | None:
        kind, loc = detail["type"], detail["loc"]
        if loc[0] not in self._names or not (kind == _MISSING or _is_of_type(kind)):
            return None
        site = locate(loc, kind, data, self._root)
        if site.in_union or site.path != loc:
            return None
        entry = format_errors([(detail, site)], self._root)[0]
        # A list of values may be sorted by what was sent, and without a schema pydantic words the fault.
        return None if "allowed" in entry or "expected" not in entry else CachedError(entry, write_lines([entry]))


def _is_of_type(kind: str) -> bool:
    return kind.endswith(_OF_TYPE) and not kind.startswith(_COMPLEX)
