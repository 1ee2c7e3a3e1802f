"""Read an OpenAPI document, from a file or as it is."""

import importlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from sidecall.core.errors import DefinitionError

_VERSION = re.compile(r"3\.[012](\.\d+)?(-\S*)?")
_URL = re.compile(r"https?://", re.I)


class DocumentUnfit(DefinitionError):
    """An OpenAPI document cannot be used."""


def read_document(source: Any) -> tuple[dict[str, Any], str]:
    """Return a document, and what it is called in errors.

    Raises:
        DocumentUnfit: It cannot be read, or is no document of OpenAPI 3.
    """
    if isinstance(source, Mapping):
        return check_document(dict(source), "the OpenAPI document"), "the OpenAPI document"
    if isinstance(source, str) and _URL.match(source):
        raise DocumentUnfit(f"{source} is an address: name it in SIDECALL_OPENAPI, or save what is there to a file.")
    try:
        text = Path(source).read_bytes()
    except (OSError, TypeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DocumentUnfit(f"The OpenAPI document {source} cannot be read: {reason}.") from None
    return parse_document(text, str(source)), str(source)


def parse_document(text: bytes, where: str) -> dict[str, Any]:
    """Read a document from JSON or YAML.

    Raises:
        DocumentUnfit: It is neither, or no document of OpenAPI 3.
    """
    try:
        document = from_json(text) if text.lstrip()[:1] in (b"{", b"[") else _read_yaml(text, where)
    except ValueError as error:
        reason = str(error).partition("\n")[0]
        raise DocumentUnfit(f"{where} is neither JSON nor YAML: {reason}.") from None
    return check_document(document, where)


def check_document(document: Any, where: str) -> dict[str, Any]:
    """Return a document of OpenAPI 3.

    Raises:
        DocumentUnfit: It is none.
    """
    if not isinstance(document, dict):
        raise DocumentUnfit(f"{where} is no OpenAPI document: it has to be an object.")
    if "swagger" in document:
        raise DocumentUnfit(
            f"{where} is written in Swagger {str(document['swagger'])[:10]}: convert it to OpenAPI 3 first, for "
            "instance with `npx swagger2openapi`."
        )
    version = str(document.get("openapi", ""))
    if not _VERSION.fullmatch(version):
        raise DocumentUnfit(f"{where} is no document of OpenAPI 3: its `openapi` is {version[:20]!r}.")
    if not isinstance(document.get("paths", {}), dict):
        raise DocumentUnfit(f"{where} is no OpenAPI document: its `paths` have to be an object.")
    return document


def _read_yaml(text: bytes, where: str) -> Any:
    try:
        library = importlib.import_module("yaml")
    except ModuleNotFoundError:
        reason = "to read YAML takes an extra: pip install 'sidecall[openapi]'"
        raise DocumentUnfit(f"{where} is no JSON; {reason}") from None
    try:
        return library.load(text, Loader=_make_loader(library))
    except (library.YAMLError, RecursionError) as error:
        raise ValueError(str(error).replace("\n", " ")) from None


def _make_loader(library: Any) -> Any:
    """Make a loader of what JSON has: no dates, and no booleans but true and false."""
    base = getattr(library, "CSafeLoader", library.SafeLoader)
    loader: Any = type("JsonLoader", (base,), {})
    unlike = {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool"}
    loader.yaml_implicit_resolvers = {
        first: [(tag, form) for tag, form in known if tag not in unlike]
        for first, known in base.yaml_implicit_resolvers.items()
    }
    form = re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$")
    loader.add_implicit_resolver("tag:yaml.org,2002:bool", form, list("tTfF"))
    return loader
