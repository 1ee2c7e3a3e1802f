"""The parsed parts of a docstring."""

from dataclasses import dataclass, field
from typing import Literal

DocstringStyle = Literal["google", "numpy", "sphinx"]


@dataclass(frozen=True, slots=True)
class Docstring:
    """A docstring in parts: the text before its sections, a text for each parameter, and the result's."""

    description: str = ""
    parameters: dict[str, str] = field(default_factory=dict)
    returns: str = ""
