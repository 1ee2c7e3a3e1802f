"""Tell what each setting is and where that comes from, with secrets hidden."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import to_jsonable_python
from pydantic_settings import BaseSettings, DotEnvSettingsSource

from sidecall.features.telemetry.redact import Redaction
from sidecall.settings.server import Settings
from sidecall.settings.unknown_variables import find_unknown

HIDDEN = "[hidden]"
PREFIX = "SIDECALL_"
# What commands and clients read, and servers do not.
_OF_CLIENTS = ("SIDECALL_URL", "SIDECALL_API_KEY")
# A password of an address, the values of its query, and what may be a configuration with credentials.
_USER = re.compile(r"(?<=://)[^\s/?#@]*@")
_QUERY = re.compile(r"(?<=[?&])([^\s=&#]+)=[^\s&#]*")
_OWNER = "server"
# How similar the name is that is shown beside an unknown one.
_HINTED = 0.5

Source = Literal["default", "environment"]


class KnownSetting(NamedTuple):
    """One setting as it holds.

    Args:
        name: The variable.
        owner: The feature whose setting it is; `server` for the server's own.
        value: What holds, as JSON; of a secret only whether there is one.
        source: Where it comes from.
        variable: The variable as it is written in the environment; its case does not count.
        default: What would hold without it.
        problem: Why it cannot be used.
    """

    name: str
    owner: str
    value: Any
    source: Source
    variable: str | None
    default: Any
    problem: str | None = None


class SettingsReport(NamedTuple):
    """All settings of one environment.

    Args:
        settings: Those that there are.
        unknown: Variables that look like settings and are none, with the nearest name.
        clients: Variables that commands and clients read.
        unread: Names in the file `.env` of the folder that are not in the environment, or are another there.
        problems: Why a server would not start with them.
    """

    settings: list[KnownSetting]
    unknown: dict[str, str | None]
    clients: dict[str, str]
    unread: list[str]
    problems: list[str]


def is_secret(field: FieldInfo) -> bool:
    """Return whether a setting is one whose value is never shown."""
    return SecretStr in (field.annotation, *get_args(field.annotation))


def show_given(name: str, value: Any) -> str | None:
    """Return a wrong value of the environment for people, without passwords; None where it is a secret."""
    field = Settings.model_fields.get(name)
    hides = Redaction().is_secret(name) if field is None else is_secret(field)
    return None if hides else repr(_clean(to_jsonable_python(value, fallback=str)))


def report_settings(
    variables: Mapping[str, str], owners: Iterable[tuple[str, type[BaseSettings]]], folder: Path
) -> SettingsReport:
    """Read all settings as a server would that starts with this environment.

    Args:
        variables: The environment.
        owners: Features with settings of their own, by name.
        folder: Where a file `.env` may be.
    """
    kinds: list[tuple[str, type[BaseSettings]]] = [(_OWNER, Settings), *owners]
    readers = [_Reader(owner, kind, variables) for owner, kind in kinds]
    further = [name.removeprefix(PREFIX).lower() for reader in readers[1:] for name in reader.names.values()]
    unknown, refused = (
        {name: near for name, near in found.items() if name not in _OF_CLIENTS}
        for found in (find_unknown(variables, further, _HINTED), find_unknown(variables, further))
    )
    problems = [f"There is no setting {name}; write {near}." for name, near in refused.items() if near is not None]
    settings = [row for reader in readers for row in reader.read()]
    problems += [problem for reader in readers for problem in reader.problems]
    clients = {name: HIDDEN if "KEY" in name else variables[name] for name in _OF_CLIENTS if variables.get(name)}
    return SettingsReport(settings, unknown, clients, _list_unread(folder / ".env", variables), problems)


class _Reader:
    """Reads one class of settings, also where some of them cannot be used."""

    def __init__(self, owner: str, kind: type[BaseSettings], variables: Mapping[str, str]) -> None:
        self.problems: list[str] = []
        prefix = kind.model_config.get("env_prefix") or ""
        self.names = {name: f"{prefix}{name}".upper() for name in kind.model_fields}
        self._owner, self._kind, self._variables = owner, kind, variables

    def read(self) -> Iterator[KnownSetting]:
        """Yield the settings in their order; `problems` has then why some cannot be used."""
        # Names of variables are read in any case; of two that differ in it only, the last counts.
        written = {name.upper(): name for name, value in self._variables.items() if value}
        held, wrong = self._hold()
        for name, field in self._kind.model_fields.items():
            variable = written.get(self.names[name])
            default = field.get_default(call_default_factory=True)
            given = default if variable is None else self._variables[variable]
            hides = self._hides(name, field)
            yield KnownSetting(
                self.names[name],
                self._owner,
                _show(given if held is None else getattr(held, name), hides=hides),
                "default" if variable is None else "environment",
                variable,
                _show(default, hides=hides),
                wrong.get(name),
            )

    def _hold(self) -> tuple[BaseSettings | None, dict[str, str]]:
        wrong: dict[str, str] = {}
        try:
            return self._kind(), wrong
        except ValidationError as error:
            for item in error.errors(include_url=False, include_input=False):
                text = str(item.get("ctx", {}).get("error", item["msg"]))
                name = str(item["loc"][0]).lower() if item["loc"] else ""
                if name in self.names:
                    wrong[name] = text
                    text = f"{self.names[name]}: {text}"
                self.problems.append(text)
            return None, wrong

    def _hides(self, name: str, field: FieldInfo) -> bool:
        """Return whether the value is a secret; of others' settings also by the name, since texts are usual there."""
        return is_secret(field) or (self._owner != _OWNER and Redaction().is_secret(name))


def _show(value: Any, *, hides: bool) -> Any:
    """Return a value as JSON without what may be a secret."""
    if value is None:
        return None
    return HIDDEN if hides else _clean(to_jsonable_python(value, fallback=str))


def _clean(value: Any) -> Any:
    """Hide passwords in addresses, and configurations that are written out."""
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith(("{", "[")) or "\n" in value:
        return f"{HIDDEN}: a text of {len(value)} characters"
    return _QUERY.sub(rf"\1={HIDDEN}", _USER.sub(f"{HIDDEN}@", value)) if "://" in value else value


def _list_unread(file: Path, variables: Mapping[str, str]) -> list[str]:
    """List the settings of a file that do not hold, since servers read the environment only."""
    if not (file.is_file() and os.access(file, os.R_OK)):
        return []
    named = DotEnvSettingsSource(Settings, env_file=file).env_vars
    ours = {name.upper(): value for name, value in named.items() if name.upper().startswith(PREFIX) and value}
    held = {name.upper(): value for name, value in variables.items()}
    return [name for name, value in ours.items() if held.get(name) != value]
