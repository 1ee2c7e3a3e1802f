"""What every kind of args_schema has to do."""

from collections.abc import Mapping
from typing import Any, Protocol

from app.core.json_schema import Schema


class Arguments(Protocol):
    """Say and check the arguments of one tool.

    `json_schema` keeps `$defs`, `flat` has references in place. `hidden` maps fields of the author's own model that are
    injected to the names under which the model reads them; `reserved` are all names of those.
    """

    @property
    def json_schema(self) -> Schema:
        """What `GET /tools/{name}` shows."""

    @property
    def flat(self) -> Schema:
        """What is sent to models."""

    @property
    def hidden(self) -> Mapping[str, str]:
        """Fields that are filled before the arguments are checked."""

    @property
    def reserved(self) -> frozenset[str]:
        """Names that a model must not use."""

    def unknown(self, args: Mapping[str, Any]) -> list[str]:
        """Name the arguments that no parameter takes and that would be dropped silently."""

    def as_sent(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Name values as a model names its arguments, where `validate` names them otherwise."""

    def validate(self, args: Mapping[str, Any], injected: Mapping[str, Any], repaired: list[str]) -> dict[str, Any]:
        """Check the arguments and return the values by parameter name; what was mended is added to `repaired`.

        Raises:
            ToolFailure: They do not fit.
        """
