"""Configured services whose operations are offered as tools."""

import re
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import from_json

from sidecall.features.openapi_import.operations import OperationFilter
from sidecall.features.openapi_import.planning import Credential, ForwardedHeader
from sidecall.features.openapi_import.yaml_text import load_yaml
from sidecall.kernel.core.errors import DefinitionError
from sidecall.kernel.core.injection import Secret, UserToken
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.variables import VariableMissing, expand_variables
from sidecall.outgoing.addresses import names_host

_SETTING = "SIDECALL_OPENAPI_SERVICES"
_CREDENTIAL = re.compile(r"\$\{(secret|user_token|header):([^}]+)\}")
_KINDS: dict[str, Any] = {"secret": Secret, "user_token": UserToken, "header": ForwardedHeader}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,30}")
_URL = re.compile(r"https?://", re.I)
_MEANT_AS_URL = re.compile(r"https?(?::|//)", re.IGNORECASE)
_EXAMPLE = '{"services": {"shop": {"document": "shop.json", "auth": "${secret:SHOP_TOKEN}"}}}'


class InvalidServices(DefinitionError):
    """SIDECALL_OPENAPI_SERVICES cannot be used."""


def _read_credential(text: Any) -> Any:
    found = _CREDENTIAL.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        # The written value may be the secret itself, so it is not repeated.
        raise ValueError("write ${secret:NAME}, ${user_token:PROVIDER} or ${header:NAME}")
    return _KINDS[found[1]](found[2])


def _read_auth(said: Any) -> Any:
    return (
        {name: _read_credential(text) for name, text in said.items()}
        if isinstance(said, dict)
        else (None if said is None else _read_credential(said))
    )


def _list_texts(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


TextList = Annotated[tuple[str, ...], BeforeValidator(_list_texts)]


class ServiceEntry(BaseModel, defer_build=True):
    """One service: where its document is, which of its operations are offered, and how."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    document: str = Field(min_length=1)
    base_url: str | None = None
    auth: Annotated[Credential | dict[str, Credential] | None, BeforeValidator(_read_auth)] = None
    headers: dict[str, str] = Field(default_factory=dict)
    operations: TextList = ()
    tags: TextList = ()
    paths: TextList = ()
    methods: TextList = ()
    without: TextList = ()
    requires_approval: bool | Literal["writing"] | None = None
    private: bool = False
    prefix: bool = True
    timeout: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    scopes: TextList = ()
    disabled: bool = False

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, url: str | None) -> str | None:
        if url is not None and not names_host(url):
            raise ValueError("write an address with http:// or https:// and a host")
        return url

    @field_validator("document")
    @classmethod
    def _is_somewhere(cls, place: str) -> str:
        if _MEANT_AS_URL.match(place) and not (_URL.match(place) and names_host(place)):
            raise ValueError("write the path of a file, or an address with http:// or https:// and a host")
        return place

    @model_validator(mode="after")
    def _headers_are_no_secrets(self) -> Self:
        for name, text in self.headers.items():
            if _CREDENTIAL.search(text):
                raise ValueError(f"`headers` are the same for all; what {name} is for is written as `auth`")
        return self

    @property
    def is_remote(self) -> bool:
        """Whether its document has to be fetched."""
        return _URL.match(self.document) is not None

    @property
    def filter(self) -> OperationFilter:
        """The filter for its operations."""
        return OperationFilter(self.operations, self.tags, self.paths, self.methods, self.without)

    @property
    def options(self) -> dict[str, Any]:
        """The options of each of its tools."""
        given = {"timeout": self.timeout, "scopes": list(self.scopes) or None}
        return {name: value for name, value in given.items() if value is not None}


def read_services(setting: str | None, present: Mapping[str, str]) -> dict[str, ServiceEntry]:
    """Read the configured services by name, without disabled ones.

    Args:
        setting: The path of a file in JSON or YAML, or its text in JSON.
        present: The environment variables.

    Raises:
        InvalidServices: The setting is invalid.
    """
    if setting is None:
        return {}
    text, place, folder = _read_text(setting)
    try:
        written = from_json(text) if text.lstrip()[:1] == b"{" else load_yaml(text)
    except ModuleNotFoundError:
        raise InvalidServices(
            f"{place} is no JSON; to read YAML takes an extra: pip install 'sidecall[openapi]'."
        ) from None
    except ValueError as error:
        raise InvalidServices(f"{place} is neither JSON nor YAML: {str(error).partition(chr(10))[0]}.") from None
    listed = written.get("services") if isinstance(written, dict) else None
    if not isinstance(listed, dict) or len(written) > 1:
        raise InvalidServices(f"{place} has to be an object with `services` alone: {_EXAMPLE}.")
    found = {name: _read_entry(place, name, raw, present, folder) for name, raw in listed.items()}
    return {name: entry for name, entry in found.items() if not entry.disabled}


def _read_text(setting: str) -> tuple[bytes, str, Path | None]:
    if setting.lstrip().startswith("{"):
        return setting.encode(), _SETTING, None
    try:
        return Path(setting).read_bytes(), f"{_SETTING}, {setting},", Path(setting).parent
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidServices(
            f"{_SETTING} is {setting[:200]}, which cannot be read: {reason}. Write the path of a file or its text."
        ) from None


def _read_entry(place: str, name: Any, raw: Any, present: Mapping[str, str], folder: Path | None) -> ServiceEntry:
    where = f"{place} service {name!r}"
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise InvalidServices(f"{where}: a name has letters, digits, `_` and `-`, 31 at most.")
    try:
        entry = ServiceEntry.model_validate(expand_variables(raw, present))
    except VariableMissing as missing:
        raise InvalidServices(
            f"{where} names the variable {missing}, which is not set; set it, or write ${{{missing}:-instead}}."
        ) from None
    except ValidationError as error:
        # The value is left out, since it may be a secret.
        wrong = "; ".join(_format_fault(item) for item in error.errors(include_input=False, include_url=False))
        raise InvalidServices(f"{where} is none: {wrong}.") from None
    if folder is None or entry.is_remote:
        return entry
    return entry.model_copy(update={"document": str(folder / entry.document)})


def _format_fault(item: Any) -> str:
    if item["type"] == "extra_forbidden":
        meant = get_close_matches(str(item["loc"][-1]), ServiceEntry.model_fields, 1, 0.6)
        instead = f"write `{meant[0]}`" if meant else f"there are {', '.join(ServiceEntry.model_fields)}"
        return f"`{item['loc'][-1]}` is none of its members; {instead}"
    said = str(item.get("ctx", {}).get("error", item["msg"]))
    return f"{format_path(item['loc'])}: {said}" if item["loc"] else said
