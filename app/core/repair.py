"""Mend what models often get wrong in the form of their arguments, and say so."""

import re
from typing import Any

from app.core.explain import Loc
from app.core.json_text import parse_json

_FENCE = re.compile(r"\s*```(?:json|JSON)?\s*\n(.*?)\n?\s*```\s*", re.DOTALL)


def parse_arguments(text: str, repaired: list[str]) -> Any:
    """Parse the JSON text of arguments, out of a Markdown fence or a second encoding if need be.

    Args:
        text: What the model wrote.
        repaired: Where each mend is noted.

    Raises:
        ValueError: It is not JSON even so.
    """
    fence = _FENCE.fullmatch(text)
    if fence is not None:
        repaired.append("arguments: taken out of a Markdown fence")
        text = fence[1]
    value = parse_json(text.encode())
    inner = _container(value)
    if inner is not value:
        repaired.append("arguments: JSON text inside JSON text")
    return inner


def decoded_at(data: Any, path: Loc, repaired: list[str]) -> Any:
    """Copy JSON data with the text at this path parsed, if it is the JSON text of an object or an array.

    Models write nested objects as text where they should write them out.
    """
    if not path:
        return _container(data)
    head: Any = path[0]
    inner = decoded_at(data[head], path[1:], repaired)
    if inner is data[head]:
        return data
    if len(path) == 1:
        repaired.append(f"{head}: JSON text instead of {'an array' if isinstance(inner, list) else 'an object'}")
    copy = data.copy()
    copy[head] = inner
    return copy


def _container(text: Any) -> Any:
    if not isinstance(text, str) or not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return parse_json(text.encode())
    except ValueError:
        return text
