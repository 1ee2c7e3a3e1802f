"""Validate arguments with a pydantic model, and find unknown names."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from sidecall.kernel.core.field_errors import MOST_FIELDS, FieldError
from sidecall.kernel.core.tool import DEEPEST, Schema
from sidecall.kernel.schema.errors.entries import Path
from sidecall.kernel.schema.errors.reading import Reading
from sidecall.kernel.schema.errors.unknown_keys import UnknownKey, find_unknown_keys
from sidecall.kernel.schema.errors.validation_errors import Site, find_nulls, locate
from sidecall.kernel.schema.explain import format_errors, list_details
from sidecall.kernel.schema.whole_numbers import OF_KEYS, reduce_to_data

# What pydantic says of a name that there is no field for.
_UNKNOWN = frozenset(("extra_forbidden", "unexpected_keyword_argument"))


@dataclass(slots=True)
class ModelValidator:
    """Validates with a model; errors are described by the schema.

    `check` refuses unknown names, at any depth; `check_known` drops them, as the model does. `supplied` are names that
    the caller, not the model, sends. `walks` says that unknown names are found by the schema, since the model takes
    some where `check` would refuse all.
    """

    check: Callable[[Mapping[str, Any]], Any]
    check_known: Callable[[Mapping[str, Any]], Any]
    root: Schema
    supplied: Collection[str] = ()
    walks: bool = False

    @property
    def kept_from(self) -> int | None:
        """The minimum path length at which unknown names are kept; None if all are dropped."""
        return None

    def validate(self, data: Mapping[str, Any]) -> Reading:
        """Validate the arguments, unknown ones included."""
        try:
            return Reading(self.check(data), fits=True)
        except ValidationError as error:
            return self.read(error, data)

    def validate_known(self, data: Mapping[str, Any]) -> Reading:
        """Validate the known arguments; ignore unknown ones."""
        try:
            return Reading(self.check_known(data), fits=True)
        except ValidationError as error:
            return self.read(error, data)

    def find_fault(self, data: Mapping[str, Any]) -> ValidationError | None:
        """Return the model's own error for arguments, for handlers of such errors."""
        try:
            self.check_known(data)
        except ValidationError as error:
            # Without its frames, which know the call and would keep it.
            return error.with_traceback(None)
        return None

    def read(self, error: ValidationError, data: Mapping[str, Any]) -> Reading:
        """Split errors into those of values and those of names."""
        return self.sort(error.error_count(), list_details(error), data)

    def sort(self, count: int, details: Sequence[ErrorDetails], data: Mapping[str, Any]) -> Reading:
        """Do so with the listed details of so many errors."""
        if count > MOST_FIELDS:
            return Reading(count=count, faults=details)
        faults = [it for it in details if it["type"] not in _UNKNOWN]
        unknown = [it["loc"] for it in details if it["type"] in _UNKNOWN] if len(faults) < len(details) else []
        keys = [it["loc"][:-1] for it in faults if it["loc"] and it["loc"][-1] == OF_KEYS]
        unknown_keys = self._find_unknown_names([*unknown, *keys], data)
        if keys and unknown_keys:
            paths = {unknown_key.path for unknown_key in unknown_keys}
            faults = [
                it for it in faults if it["loc"][-1:] != (OF_KEYS,) or reduce_to_data(data, it["loc"]) not in paths
            ]
        return Reading(count=count, faults=faults, unknown_keys=unknown_keys, unknown=unknown)

    def _find_unknown_names(self, unknown: Sequence[Path], data: Any) -> list[UnknownKey]:
        """Return the unknown names that pydantic reports, except aliases that the schema lacks."""
        if not unknown and not self.walks:
            return []
        deepest = DEEPEST if self.walks else max(map(len, unknown))
        found = [it for it in find_unknown_keys(data, self.root, deepest) if it.path[0] not in self.supplied]
        return found if self.walks else [it for it in found if any(_is_about(loc, it.path) for loc in unknown)]

    def list_sites(self, reading: Reading, data: Mapping[str, Any]) -> Sequence[Site]:
        """List the places of invalid values."""
        sites = self._locate(reading, data)
        if len(sites) > 1:  # Each member of a union has its own complaint.
            sites = list({site.path: site for site in reversed(sites)}.values())[::-1]
        nulls = [null for site in sites if site.in_union for null in find_nulls(site, self.root)]
        return [*sites, *nulls] if nulls else sites

    def _locate(self, reading: Reading, data: Mapping[str, Any]) -> Sequence[Site]:
        if reading.sites is None:
            reading.sites = [locate(it["loc"], it["type"], data, self.root) for it in reading.faults]
        return reading.sites

    def list_extras(self, reading: Reading, data: Mapping[str, Any]) -> list[Path]:
        """List the possible paths of unknown names; union labels in a location may also be names."""
        if self.walks:
            return [unknown_key.path for unknown_key in reading.unknown_keys]
        both = [
            (locate(loc, "extra_forbidden", data, self.root).path, reduce_to_data(data, loc)) for loc in reading.unknown
        ]
        return list(dict.fromkeys(path for paths in both for path in paths if path and path[0] not in self.supplied))

    def explain(self, reading: Reading, data: Mapping[str, Any]) -> list[FieldError]:
        """Make the error entries, without those of unknown names."""
        found = list(zip(reading.faults, self._locate(reading, data), strict=True))
        if not found and not reading.unknown_keys:  # Names that no member of a union takes.
            unknown = [ErrorDetails(type="extra_forbidden", loc=loc, msg="", input=None) for loc in reading.unknown]
            found = [(it, locate(it["loc"], it["type"], data, self.root)) for it in unknown]
        return format_errors(found, self.root)


def _is_about(loc: Path, path: Path) -> bool:
    """Return whether a location matches a path, ignoring union labels."""
    rest = iter(loc)
    return loc[-1] == path[-1] and all(step in rest for step in path)
