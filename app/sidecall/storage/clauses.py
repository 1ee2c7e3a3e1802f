"""WHERE clauses of lists."""

from typing import Any

from sidecall.features.calls.entry import OPEN, CallFilter, CallStatus

# The conditions of the partial indexes `calls_open` and `calls_by_status`. SQLite uses one only where its condition is
# repeated word for word.
_OF_OPEN = "status IN ('queued', 'running', 'awaiting_approval')"
_OF_ENDED = "status NOT IN ('succeeded', 'queued', 'running', 'awaiting_approval')"


def write_where(wanted: CallFilter, cursor: str | None) -> tuple[str, list[Any]]:
    """Return the WHERE clause of a list of calls, and the values of its placeholders."""
    clauses: list[str] = []
    values: list[Any] = []

    def add(clause: str, *more: Any) -> None:
        numbers = []
        for value in more:
            values.append(value)
            numbers.append(f"${len(values)}")
        clauses.append(clause.format(*numbers, all=", ".join(numbers)))

    # Few calls are open, so no other column's index is to be taken for them.
    unindexed = " || ''" if wanted.status in OPEN else ""
    add("tenant = {0}", wanted.tenant)
    if wanted.status is not None:
        add(_write_status(wanted.status))
    if wanted.names is not None:
        add(f"name{unindexed} IN ({{all}})" if wanted.names else "1 = 0", *wanted.names)
    for clause, value in _single(wanted, cursor, unindexed):
        if value is not None:
            add(clause, value)
    return "WHERE " + " AND ".join(clauses), values


def _write_status(status: CallStatus) -> str:
    if status == "succeeded":  # Most calls have.
        return "status = 'succeeded'"
    return f"{_OF_OPEN if status in OPEN else _OF_ENDED} AND status = '{status}'"


def _single(wanted: CallFilter, cursor: str | None, unindexed: str) -> list[tuple[str, Any]]:
    return [
        ("kind = {0}", wanted.kind),
        (f"caller{unindexed} = {{0}}", wanted.caller),
        ("id >= {0}", None if wanted.since is None else first_id(wanted.since)),
        ("id < {0}", None if wanted.until is None else first_id(wanted.until)),
        ("id < {0}", cursor),
    ]


def first_id(seconds: float) -> str:
    """Return the smallest call id from that time on; a UUIDv7 begins with its time in milliseconds."""
    digits = f"{max(0, int(seconds * 1000)):012x}"
    return f"{digits[:8]}-{digits[8:]}"
