"""The library that compares values with JSON Schemas, and the formats that it does not know as models do."""

import importlib
import re
from collections.abc import Callable
from functools import cache
from typing import Any

from sidecall.kernel.core.tool import Schema


def compile_validator(schema: Schema, **options: Any) -> Any:
    """Compile a schema with the options of `jsonschema_rs.validator_for`.

    Raises:
        ValueError: It is no JSON Schema, or refers to another document.
    """
    # Loaded with the first tool that needs it, since it holds 3 MB, and most servers have none.
    library = importlib.import_module("jsonschema_rs")
    return library.validator_for(schema, retriever=_refuse, **options)


def _refuse(address: str) -> Any:
    raise ValueError(f"{address} is another document, and none is fetched")


# Stands in messages where the validator would repeat what was sent.
_MASK = "Input"
# As RFC 3339 has them, but a zone may be left out, as models and pydantic do.
_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d+)?)?([zZ]|[+-]\d\d:?\d\d)?")
_DURATION = re.compile(r"[-+]?P(?=.)(\d+[YMWD])*+(T(?=.)(\d+(\.\d+)?[HMS])*+)?")
_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")


def _is_time(text: str) -> bool:
    return _TIME.fullmatch(text) is not None


def _is_moment(text: str) -> bool:
    date, time = text[:10], text[11:]
    return _DATE.fullmatch(date) is not None and text[10:11] in ("T", "t", " ") and _is_time(time)


def _is_duration(text: str) -> bool:
    return _DURATION.fullmatch(text) is not None


_FORMATS = {"time": _is_time, "date-time": _is_moment, "duration": _is_duration}
# Formats that are slow to check, and how many characters are: beyond, a name or an address is none, and a pattern is
# refused.
_SLOW = {"idn-hostname": 1_000, "idn-email": 1_000, "regex": 10_000}


@cache
def _limit_formats() -> dict[str, Callable[[str], bool]]:
    """Make the checks of slow formats: a text that is too long fails at once."""

    def limit(name: str, most: int) -> Callable[[str], bool]:
        whole = compile_validator({"format": name}, validate_formats=True)
        return lambda text: len(text) <= most and bool(whole.is_valid(text))

    return {name: limit(name, most) for name, most in _SLOW.items()}


def compile_with_formats(schema: Schema) -> Any:
    """Compile the schema of arguments.

    Raises:
        ValueError: It is no JSON Schema, or refers to another document.
    """
    return compile_validator(schema, mask=_MASK, validate_formats=True, formats=_FORMATS | _limit_formats())
