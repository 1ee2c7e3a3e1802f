"""Headers for MCP servers that come from the caller of a tool: its secret, or a header of its request."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sidecall.kernel.core.errors import MissingContext, ToolNotConfigured
from sidecall.kernel.core.injection import Supply

# The placeholder of a caller's value.
OF_CALLER = re.compile(r"\$\{(secret|header):([^}]+)\}")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class CallerHeaders:
    """Headers with placeholders `${secret:NAME}` and `${header:NAME}` for the caller's values."""

    templates: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.templates)

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of the required secrets of callers."""
        return self._list("secret")

    @property
    def headers(self) -> tuple[str, ...]:
        """The names of the forwarded headers."""
        return self._list("header")

    def _list(self, kind: str) -> tuple[str, ...]:
        found = (place for _, template in self.templates for place in OF_CALLER.findall(template))
        return tuple(dict.fromkeys(name for of, name in found if of == kind))

    def pick(self, supply: Supply) -> dict[str, str]:
        """Return the forwarded headers of a call.

        Raises:
            MissingContext: The request lacks a header.
        """
        sent = supply.tool_context.headers
        for name in self.headers:
            if not sent.get(name):
                raise MissingContext(f"The tool needs the header {name} of the request, which it hands on.")
        return {name: sent[name] for name in self.headers}

    def fill(self, secrets: Mapping[str, str | None], headers: Mapping[str, str]) -> dict[str, str]:
        """Make the headers of one call.

        Raises:
            ToolNotConfigured: The caller has no secret of a name.
        """
        for name, value in secrets.items():
            if value is None:
                lack = f"needs a secret {name} of its caller, who keeps none here."
                raise ToolNotConfigured(f"Error: this tool {lack}", f"It {lack}")

        def find(place: re.Match[str]) -> str:
            of, name = place.groups()
            return (secrets[name] or "") if of == "secret" else headers[name]

        return {name: OF_CALLER.sub(find, template) for name, template in self.templates}


def read_caller_headers(raw: Any) -> Any:
    """Read the headers of an entry.

    Raises:
        ValueError: They are invalid.
    """
    if isinstance(raw, CallerHeaders):
        return raw
    if not isinstance(raw, dict) or not all(isinstance(text, str) for text in raw.values()):
        raise ValueError("write an object of texts")
    for name, template in raw.items():
        _check(name, template)
    return CallerHeaders(tuple(raw.items()))


def _check(name: str, template: str) -> None:
    if _NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} is no name of a header")
    if OF_CALLER.search(template) is None:
        raise ValueError(
            f"{name} has neither ${{secret:NAME}} nor ${{header:NAME}}; what is the same for all is `headers`"
        )


# Makes the forwarded values of a call.
Pick = Callable[[Supply], dict[str, str]]
