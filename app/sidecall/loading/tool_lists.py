"""Settings that are lists: texts separated by commas."""

from typing import Annotated, Any

from pydantic import BeforeValidator
from pydantic_settings import NoDecode


def split_list(value: Any) -> Any:
    """Split a text at its commas, and leave out what is empty; what is no text stays as it is."""
    return tuple(part.strip() for part in value.split(",") if part.strip()) if isinstance(value, str) else value


#: For lists of what is more than text, after `NoDecode`.
SPLIT = BeforeValidator(split_list)
Texts = Annotated[tuple[str, ...], NoDecode, SPLIT]
