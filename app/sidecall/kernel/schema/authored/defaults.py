"""Find defaults that differ at each start."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.references import walk

# What a module has just made of the clock is no older.
_SECONDS = 60
# Of UUIDs those that are made of the clock or at random.
_MADE_ANEW = (1, 4, 6, 7)
_UUID = 36
_DATE = 10


def find_changing_defaults(schema: Schema) -> Iterator[str]:
    """Find defaults that look as if they were made at import time, from the clock or at random."""
    for path, node in walk(schema):
        default = node.get("default")
        if path and _looks_made_anew(default):
            yield (
                f"`{path}` has the default {default}, which seems to be made at each start: the tool's hash then"
                " changes, which `sidecall check --lock` takes for a change; let it be None,"
                " and make the value in the function"
            )


def _looks_made_anew(default: Any) -> bool:
    if isinstance(default, float):
        return abs(default - datetime.now(UTC).timestamp()) <= _SECONDS
    if not isinstance(default, str):
        return False
    try:
        if len(default) == _UUID and default.count("-") == 4:
            return UUID(default).version in _MADE_ANEW
        return date.fromisoformat(default) in _list_days() if len(default) == _DATE else _is_now(default)
    except ValueError:
        return False


def _list_days() -> tuple[date, date]:
    """List today's date, local and in UTC."""
    return datetime.now().astimezone().date(), datetime.now(UTC).date()


def _is_now(text: str) -> bool:
    moment = datetime.fromisoformat(text)
    # One without a zone is of the clock on the wall, or of UTC.
    moments = [moment] if moment.tzinfo else [moment.astimezone(), moment.replace(tzinfo=UTC)]
    return any(abs((datetime.now(UTC) - it).total_seconds()) <= _SECONDS for it in moments)
