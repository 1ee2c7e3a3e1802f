"""Read an OpenAPI document from a file or a text."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from sidecall.features.openapi_import.yaml_text import load_yaml
from sidecall.kernel.core.errors import DefinitionError
from sidecall.kernel.json_data.text import pause_collector

_VERSION = re.compile(r"3\.[012](\.\d+)?(-\S*)?")
_URL = re.compile(r"https?://", re.I)


class InvalidDocument(DefinitionError):
    """An OpenAPI document cannot be used."""


def read_document(source: Any) -> tuple[dict[str, Any], str]:
    """Return a document and its name in errors.

    Raises:
        InvalidDocument: It cannot be read, or is no document of OpenAPI 3.
    """
    if isinstance(source, Mapping):
        return check_document(dict(source), "the OpenAPI document"), "the OpenAPI document"
    if isinstance(source, str) and _URL.match(source):
        raise InvalidDocument(f"{source} is an address: name it in SIDECALL_OPENAPI, or save what is there to a file.")
    try:
        text = Path(source).read_bytes()
    except (OSError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidDocument(f"The OpenAPI document {source} cannot be read: {reason}.") from None
    return parse_document(text, str(source)), str(source)


def parse_document(text: bytes, where: str) -> dict[str, Any]:
    """Read a document from JSON or YAML.

    Raises:
        InvalidDocument: It is neither, or not a document of OpenAPI 3.
    """
    try:
        with pause_collector():
            document = from_json(text) if text.lstrip()[:1] in (b"{", b"[") else _read_yaml(text, where)
    except ValueError as error:
        reason = str(error).partition("\n")[0]
        raise InvalidDocument(f"{where} is neither JSON nor YAML: {reason}.") from None
    return check_document(document, where)


def check_document(document: Any, where: str) -> dict[str, Any]:
    """Return a document of OpenAPI 3.

    Raises:
        InvalidDocument: It is not one.
    """
    if not isinstance(document, dict):
        raise InvalidDocument(f"{where} is no OpenAPI document: it has to be an object.")
    if "swagger" in document:
        raise InvalidDocument(
            f"{where} is written in Swagger {str(document['swagger'])[:10]}: convert it to OpenAPI 3 first, for "
            "instance with `npx swagger2openapi`."
        )
    version = str(document.get("openapi", ""))
    if not _VERSION.fullmatch(version):
        raise InvalidDocument(f"{where} is no document of OpenAPI 3: its `openapi` is {version[:20]!r}.")
    if not isinstance(document.get("paths", {}), dict):
        raise InvalidDocument(f"{where} is no OpenAPI document: its `paths` have to be an object.")
    return document


def _read_yaml(text: bytes, where: str) -> Any:
    try:
        return load_yaml(text)
    except ModuleNotFoundError:
        reason = "to read YAML takes an extra: pip install 'sidecall[openapi]'"
        raise InvalidDocument(f"{where} is no JSON; {reason}") from None
