"""Say Python values as JSON that anybody can read."""

import json
import math
from typing import Any

from pydantic_core import from_json, to_jsonable_python


def to_text(value: Any) -> str:
    """Say a value as JSON text, spaced as LangChain does; models, sets and the like by pydantic, never as a repr.

    Raises:
        ValueError: JSON cannot say it.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        plain = to_plain(value)
        # A date, a UUID or a path is a text; quotes around it would only be in the way.
        text = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    return sendable(text)


def to_plain(value: Any) -> Any:
    """Reduce a value to what JSON has: NaN and Infinity become null, bytes base64, models objects.

    Raises:
        ValueError: JSON cannot say it.
    """
    try:
        plain = to_jsonable_python(value, bytes_mode="base64", by_alias=True, fallback=_own_text)
        return from_json(sendable(_dumped(plain)))
    except (TypeError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _own_text(value: Any) -> str:
    """Say what pydantic does not know as text, if its type says how; Python's default repr helps nobody."""
    kind: Any = type(value)
    if kind.__str__ is object.__str__:
        raise ValueError(f"{kind.__name__} has no JSON form")
    return str(value)


def _dumped(plain: Any) -> str:
    try:
        return json.dumps(plain, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_with_null_for_nan(plain), ensure_ascii=False)


def _with_null_for_nan(plain: Any) -> Any:
    if isinstance(plain, float):
        return plain if math.isfinite(plain) else None
    if isinstance(plain, dict):
        return {key: _with_null_for_nan(item) for key, item in plain.items()}
    return [_with_null_for_nan(item) for item in plain] if isinstance(plain, list) else plain


def sendable(text: str) -> str:
    """Replace lone surrogates, which have no UTF-8 form."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
