"""Entries of `mcp.json`: the MCP servers whose tools are offered here."""

import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator

from sidecall.kernel.core.errors import MissingContext, SidecallError, ToolNotConfigured
from sidecall.kernel.core.injection import Supply
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.variables import VariableMissing, expand_variables
from sidecall.outgoing.addresses import names_host

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


logger = logging.getLogger("sidecall")

_SETTING = "SIDECALL_MCP_SERVERS"
# The key of desktop clients, and that of editors.
_ROOTS = ("mcpServers", "servers")
# What clients keep in the same file for themselves.
_OF_OTHERS = frozenset(
    "alwaysAllow autoApprove autoStart dev disabledTools description displayName enabled envFile gallery icon id name"
    " trust version".split()
)


class InvalidMcpServers(SidecallError):
    """SIDECALL_MCP_SERVERS cannot be used."""


def _list_patterns(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Patterns = Annotated[tuple[str, ...], BeforeValidator(_list_patterns)]


class UpstreamEntry(BaseModel, defer_build=True):
    """One MCP server: a command that starts it, or the URL where it is, and how its tools are offered.

    Patterns are those of file names, and match a tool's name as its server says it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: Literal["stdio", "http", "streamable-http", "streamableHttp"] | None = None
    command: str | None = Field(default=None, min_length=1)
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict)
    cwd: Path | None = None
    url: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    caller_headers: Annotated[CallerHeaders, BeforeValidator(read_caller_headers)] = CallerHeaders()
    prefix: bool = True
    include: Patterns = ()
    exclude: Patterns = ()
    requires_approval: bool | Patterns = False
    timeout: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    disabled: bool = False
    tags: tuple[str, ...] = ()

    @field_validator("url")
    @classmethod
    def _is_address(cls, url: str | None) -> str | None:
        if url is not None and not names_host(url):
            raise ValueError("write an address with http:// or https:// and a host")
        return url

    @model_validator(mode="after")
    def _is_reached_one_way(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("write either `command`, which starts the server, or `url`, where it is")
        if self.type is not None and (self.type == "stdio") != (self.command is not None):
            raise ValueError("`type` says another way than `command` or `url`")
        if self.command is not None and (self.headers or self.caller_headers):
            raise ValueError("headers are sent to a `url`; a `command` is given `env`")
        return self

    @model_validator(mode="after")
    def _takes_nothing_of_callers(self) -> Self:
        for place, values in (("headers", self.headers), ("env", self.env)):
            for name, text in values.items():
                if OF_CALLER.search(text):
                    raise ValueError(
                        f"`{place}` are the same for all, and {name} names what is a caller's: write ${{NAME}} for a"
                        " variable, or write it below `caller_headers`"
                    )
        return self

    @property
    def place(self) -> str:
        """The command or URL, without what may be a secret."""
        if self.url is not None:
            return self.url.partition("?")[0].rpartition("@")[2]
        return self.command or ""

    def offers(self, name: str) -> bool:
        """Return whether a tool of this name is to be offered."""
        is_included = not self.include or _match_any(self.include, name)
        return is_included and not _match_any(self.exclude, name)

    def asks(self, name: str) -> bool:
        """Return whether calls of a tool of this name want a person's approval."""
        wanted = self.requires_approval
        return wanted if isinstance(wanted, bool) else _match_any(wanted, name)


def _match_any(patterns: tuple[str, ...], name: str) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def read_entries(setting: str, present: Mapping[str, str]) -> dict[str, UpstreamEntry]:
    """Read the configured servers by name, without disabled ones.

    Args:
        setting: The path of an `mcp.json`, or its text.
        present: The environment variables.

    Raises:
        InvalidMcpServers: The setting is invalid.
    """
    text, place = _read_text(setting)
    try:
        document = json.loads(text)
    except ValueError as error:
        raise InvalidMcpServers(f"{place} is no JSON: {error}.") from None
    listed = _find_servers(document, place)
    wanted = {name: raw for name, raw in listed.items() if not (isinstance(raw, dict) and raw.get("disabled") is True)}
    return {name: _read_entry(f"{place}: server {name!r}", raw, present) for name, raw in wanted.items()}


def _read_text(setting: str) -> tuple[str, str]:
    if setting.lstrip().startswith("{"):
        return setting, _SETTING
    try:
        return Path(setting).read_text(encoding="utf-8-sig"), f"{_SETTING}, {setting},"
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidMcpServers(
            f"{_SETTING} is {setting[:200]}, which cannot be read: {reason}. Write the path of an mcp.json or its text."
        ) from None


def _find_servers(document: Any, place: str) -> dict[str, Any]:
    root = next((name for name in _ROOTS if isinstance(document, dict) and name in document), None)
    if root is None or not isinstance(document[root], dict):
        raise InvalidMcpServers(
            f'{place} has to be an object with `mcpServers`: {{"mcpServers": {{"time": {{"command": "…"}}}}}}.'
        )
    found: dict[str, Any] = document[root]
    return found


def _read_entry(where: str, raw: Any, present: Mapping[str, str]) -> UpstreamEntry:
    if isinstance(raw, dict):
        _look_at_names(where, raw)
        if raw.get("type") == "sse":
            raise InvalidMcpServers(
                f"{where} has the type sse, which MCP has given up; use its streamable HTTP address."
            )
    try:
        return UpstreamEntry.model_validate(expand_variables(raw, present))
    except VariableMissing as missing:
        raise InvalidMcpServers(
            f"{where} names the variable {missing}, which is not set; set it, or write ${{{missing}:-instead}}."
        ) from None
    except ValidationError as error:
        # The value is left out, since it may be a secret.
        wrong = "; ".join(f"{format_path(item['loc']) or 'it'}: {_format_fault(item)}" for item in error.errors())
        raise InvalidMcpServers(f"{where} is none: {wrong}.") from None


def _format_fault(item: Any) -> str:
    return str(item.get("ctx", {}).get("error", item["msg"]))


def _look_at_names(where: str, raw: Mapping[str, Any]) -> None:
    for name in sorted(raw.keys() - UpstreamEntry.model_fields.keys() - _OF_OTHERS):
        for meant in get_close_matches(name, UpstreamEntry.model_fields, 1, 0.75):
            raise InvalidMcpServers(f"{where} has `{name}`, which is none of its members; write `{meant}`.")
        logger.warning("%s has `%s`, which is not used here", where, name)
