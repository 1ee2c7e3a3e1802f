"""Find nulls in values that are meant for one member of a union."""

from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.errors.entries import Path
from sidecall.kernel.schema.errors.validation_errors import Site, ValidationErrors
from sidecall.kernel.schema.whole_numbers import drop_member, is_free


def find_nulls(site: Site, root: Schema) -> list[Site]:
    """List the nulls that the likely union member refuses and does not require."""
    if not _holds_null(site.value):
        return []
    value, start = site.value, len(site.path)
    entries = ValidationErrors(root).find(value, site.node, site.path)
    paths = [
        path for path in (tuple(it["loc"]) for it in entries) if len(path) > start and _is_null(value, path[start:])
    ]
    for path in paths:
        value = drop_member(value, path[start:])
    left = ValidationErrors(root).find(value, site.node, site.path)
    wanted = {tuple(it["loc"]) for it in left if it["type"] == "missing"}
    return [Site("type", path, None, None) for path in paths if path not in wanted and not is_free(root, path)]


def _holds_null(value: Any) -> bool:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return any(it is None or _holds_null(it) for it in inner)


def _is_null(value: Any, path: Path) -> bool:
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):  # What is missing there.
            return False
    return value is None
