"""Settings that are lists: comma-separated texts."""

from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_settings import NoDecode


def split_list(value: Any) -> Any:
    """Split a text at commas, dropping empty parts; other values are returned unchanged."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


#: For lists of what is more than text, after `NoDecode`.
SPLIT = BeforeValidator(split_list)
Texts = Annotated[tuple[str, ...], NoDecode, SPLIT]
