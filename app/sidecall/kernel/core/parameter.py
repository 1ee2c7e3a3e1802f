"""One parameter of a tool's function."""

import inspect
from dataclasses import dataclass
from typing import Any

EMPTY = inspect.Parameter.empty
# Stands before the name of a free argument that is called as a positional-only parameter is.
FREE = "**"


VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; `annotation` and `default` are `EMPTY` when the author wrote none."""

    name: str
    kind: inspect._ParameterKind
    annotation: Any
    default: Any

    @property
    def required(self) -> bool:
        """Whether a call must supply it."""
        return self.default is EMPTY and self.kind not in VARIADIC


class Bound:
    """Marks a parameter that functools.partial has bound: no caller can set it."""
