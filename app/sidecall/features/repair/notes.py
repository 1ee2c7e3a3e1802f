"""What was found and done while arguments were mended."""

from dataclasses import dataclass, field

from sidecall.kernel.core.field_errors import FieldError
from sidecall.kernel.schema.errors.entries import Path
from sidecall.kernel.schema.errors.unknown_keys import UnknownKey


@dataclass(slots=True)
class Notes:
    """What was found and done while arguments were repaired.

    `meant` are the places that misnamed arguments were meant for, whose values are checked there. `renamed` are the
    places of renamed ones, with the original. `nulls` are places from which a null was removed, and the error if a
    value is required. `kept` are unknown names in objects that leave open which names they take.
    """

    repaired: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    errors: list[FieldError] = field(default_factory=list)
    meant: set[Path] = field(default_factory=set)
    renamed: dict[Path, UnknownKey] = field(default_factory=dict)
    nulls: dict[Path, FieldError] = field(default_factory=dict)
    kept: set[Path] = field(default_factory=set)
