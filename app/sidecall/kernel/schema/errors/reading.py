"""What a validator says of arguments, and what mends those that do not fit."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Protocol, cast

from msgspec import Struct, field

from sidecall.kernel.core.errors import InvalidArguments, SidecallError
from sidecall.kernel.core.field_errors import FieldError
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.json_data.text import parse_json
from sidecall.kernel.schema.drafts import list_forbidden
from sidecall.kernel.schema.errors.entries import Path, make_unknown
from sidecall.kernel.schema.errors.unknown_keys import UnknownKey
from sidecall.kernel.schema.errors.validation_errors import Site
from sidecall.kernel.schema.whole_numbers import drop_member
from sidecall.lazy_imports import Provided

# Characters of a text that may be translated while all others wait, for less than a millisecond.
SHORT = 1_000


class LongRepair(SidecallError):
    """The texts in these arguments take too long to be repaired on an event loop."""


class Reading(Struct):
    """A validator's result.

    `values` are the validated arguments if they fit. `count` is the number of faults, `faults` are the validator's own
    errors of values, `sites` their places, once located, and `places` these by the identity of the errors.
    `unknown_keys` are the unknown names, and `unknown` the validator's own locations of these.
    """

    values: Any = None
    fits: bool = False
    count: int = 0
    faults: Sequence[Any] = ()
    sites: Sequence[Site] | None = None
    places: dict[int, Site] = field(default_factory=dict)
    unknown_keys: Sequence[UnknownKey] = ()
    unknown: Sequence[Path] = ()


class ArgumentsValidator(Protocol):
    """Validates arguments."""

    @property
    def root(self) -> Schema:
        """The schema of the arguments, with references resolved."""

    @property
    def kept_from(self) -> int | None:
        """The minimum path length at which unknown names are kept; None if all are dropped."""

    def validate(self, data: Mapping[str, Any]) -> Reading:
        """Validate the arguments, unknown ones included."""

    def validate_known(self, data: Mapping[str, Any]) -> Reading:
        """Validate the known arguments; ignore unknown ones."""

    def list_sites(self, reading: Reading, data: Mapping[str, Any]) -> Sequence[Site]:
        """List the places of invalid values."""

    def list_extras(self, reading: Reading, data: Mapping[str, Any]) -> Sequence[Path]:
        """List the possible paths of unknown names."""

    def find_fault(self, data: Mapping[str, Any]) -> Any:
        """Return the validator's own error for arguments, for handlers of such errors."""

    def explain(self, reading: Reading, data: Mapping[str, Any]) -> list[FieldError]:
        """Make the error entries, without those of unknown names."""


class Repair(Protocol):
    """Mends what models get wrong, where it can be mended."""

    def mend(
        self,
        validator: ArgumentsValidator,
        given: Mapping[str, Any],
        first: Reading,
        repaired: list[str],
        ignored: list[str],
        guards: int,
    ) -> Any:
        """Return the values of arguments that did not fit at first.

        Raises:
            InvalidArguments: They still do not fit.
            LongRepair: They hold long texts, and this is a thread with an event loop.
        """

    def parse_arguments(self, text: str, repaired: list[str]) -> tuple[Any, str]:
        """Parse the text of arguments that is not the JSON of an object; return the value, and its JSON text.

        Raises:
            ValueError: It is no JSON either way.
        """


class _MendsNothing:
    """Where the repair of arguments is not installed: names that mean nothing are dropped, all else is refused."""

    def mend(
        self,
        validator: ArgumentsValidator,
        given: Mapping[str, Any],
        first: Reading,
        _repaired: list[str],
        ignored: list[str],
        guards: int,
    ) -> Any:
        refused = [it for it in first.unknown_keys if _is_refused(it, guards)]
        kept_from, data = validator.kept_from, given
        dropped = [it.path for it in first.unknown_keys if kept_from is None or len(it.path) < kept_from]
        for path in {*dropped, *(it.path for it in refused)}:
            data = drop_member(data, path)
        reading = first if data is given else validator.validate(data)
        if not (reading.fits or refused or validator.list_sites(reading, data)):  # Names that no union takes.
            dropped += validator.list_extras(reading, data)
            reading = validator.validate_known(data)
        if not reading.fits or refused:
            errors = [make_unknown(it.path, list(it.node["properties"])) for it in refused]
            errors += [] if reading.fits else validator.explain(reading, data)
            raise InvalidArguments(errors, partial(validator.find_fault, given)) from None
        ignored += map(format_path, dropped)
        return reading.values

    def parse_arguments(self, text: str, _repaired: list[str]) -> tuple[Any, str]:
        return parse_json(text.encode()), text


def _is_refused(key: UnknownKey, guards: int) -> bool:
    """Return whether an unknown name may mean what may be left out and was, or its object forbids all others."""
    may_mean_another = len(key.path) <= guards and not set(key.unsent).issubset(key.node.get("required", ()))
    return may_mean_another or key.node.get("additionalProperties") is False or key.name in list_forbidden(key.node)


REPAIR = cast("Repair", Provided("repair", _MendsNothing()))
