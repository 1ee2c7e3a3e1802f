"""Compile JSON Schema validators that never fetch anything."""

import importlib
from typing import Any

from sidecall.kernel.core.tool import Schema


def compile_validator(schema: Schema, **options: Any) -> Any:
    """Compile a schema with the options of `jsonschema_rs.validator_for`.

    Raises:
        ValueError: It is no JSON Schema, or refers to another document.
    """
    # Loaded with the first tool that needs it, since it holds 3 MB, and most servers have none.
    library = importlib.import_module("jsonschema_rs")
    return library.validator_for(schema, retriever=_refuse, **options)


def _refuse(address: str) -> Any:
    raise ValueError(f"{address} is another document, and none is fetched")
