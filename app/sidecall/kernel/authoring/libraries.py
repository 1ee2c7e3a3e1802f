"""Tools of other libraries, as far as the kernel knows them: what takes them over is handed in, and may be missing."""

from collections.abc import Mapping
from typing import Any, Protocol, cast

from sidecall.later import Provided


class Adoption(Protocol):
    """Makes tools of those of other libraries."""

    def adopt(self, thing: Any, name: str | None, options: Mapping[str, Any]) -> Any:
        """Make a tool from another library's tool or a runnable; None for anything else.

        Raises:
            DefinitionError: It cannot be offered.
        """


class Refusal(Protocol):
    """Refuses tools of other libraries where a function is wanted."""

    def refuse_elsewhere(self, thing: Any, *, is_described: bool = False) -> None:
        """Refuse a tool of another library that is about to be made a tool here.

        Raises:
            InvalidToolOption: It is one, and that cannot be right.
        """


class _KnowsNone:
    def adopt(self, _thing: Any, _name: str | None, _options: Mapping[str, Any]) -> None:
        return None

    def refuse_elsewhere(self, _thing: Any, *, is_described: bool = False) -> None:
        del is_described


ADOPTION = cast("Adoption", Provided("adoption", _KnowsNone()))
REFUSAL = cast("Refusal", Provided("refusal", _KnowsNone()))
