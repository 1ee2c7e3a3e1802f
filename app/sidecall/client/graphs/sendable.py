"""Convert values of a graph to JSON."""

from collections.abc import Mapping
from typing import Any

from pydantic_core import to_jsonable_python


def make_sendable(value: Any) -> Any:
    """Convert a value to JSON.

    Bytes become base64url, NaN and Infinity null, and objects without a JSON form text.

    Raises:
        ValueError: It contains itself.
    """
    said = to_jsonable_python(value, fallback=str, bytes_mode="base64", inf_nan_mode="null")
    return _replace_surrogates(said)


def _replace_surrogates(value: Any) -> Any:
    """Replace lone surrogates, which come from file names and broken JSON and have no UTF-8 form."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode(errors="replace").decode()
    if isinstance(value, Mapping):
        return {_replace_surrogates(key): _replace_surrogates(inner) for key, inner in value.items()}
    return [_replace_surrogates(inner) for inner in value] if isinstance(value, list) else value
