"""Read environment variables: in texts, as `${NAME}` or `${NAME:-default}`, and as comma-separated lists."""

import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_settings import NoDecode

# `${env:NAME}` is what some editors write.
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class VariableMissing(Exception):
    """A variable that a text names is not set, and the text does not say what stands for it."""


def expand_variables(value: Any, present: Mapping[str, str]) -> Any:
    """Copy a JSON value with the variables expanded in its texts, at every depth; an empty one counts as unset.

    Raises:
        VariableMissing: One is not set.
    """
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _find(found, present), value)
    if isinstance(value, list):
        return [expand_variables(item, present) for item in value]
    if isinstance(value, dict):
        return {name: expand_variables(item, present) for name, item in value.items()}
    return value


def _find(found: re.Match[str], present: Mapping[str, str]) -> str:
    name, instead = found.groups()
    value = present.get(name) or instead
    if value is None:
        raise VariableMissing(name)
    return value


def split_list(value: Any) -> Any:
    """Split a text at commas, dropping empty parts; other values are returned unchanged."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


#: For lists of what is more than text, after `NoDecode`.
SPLIT = BeforeValidator(split_list)
Texts = Annotated[tuple[str, ...], NoDecode, SPLIT]
