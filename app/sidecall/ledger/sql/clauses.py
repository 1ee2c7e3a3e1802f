"""Which rows a list wants, in SQL."""

from typing import Any

from sidecall.core.calls.entry import CallFilter


def write_where(wanted: CallFilter, cursor: str | None) -> tuple[str, list[Any]]:
    """Write the WHERE of a list of calls, and the values of its placeholders."""
    clauses: list[str] = []
    values: list[Any] = []

    def add(clause: str, *more: Any) -> None:
        numbers = []
        for value in more:
            values.append(value)
            numbers.append(f"${len(values)}")
        clauses.append(clause.format(*numbers, all=", ".join(numbers)))

    add("tenant = {0}", wanted.tenant)
    if wanted.names is not None:
        add("name IN ({all})" if wanted.names else "1 = 0", *wanted.names)
    for clause, value in _single(wanted, cursor):
        if value is not None:
            add(clause, value)
    return "WHERE " + " AND ".join(clauses), values


def _single(wanted: CallFilter, cursor: str | None) -> list[tuple[str, Any]]:
    return [
        ("status = {0}", wanted.status),
        ("kind = {0}", wanted.kind),
        ("caller = {0}", wanted.caller),
        ("id >= {0}", None if wanted.since is None else first_id(wanted.since)),
        ("id < {0}", None if wanted.until is None else first_id(wanted.until)),
        ("id < {0}", cursor),
    ]


def first_id(seconds: float) -> str:
    """Return what the ids of all calls from then on are at least; a UUIDv7 begins with its time in milliseconds."""
    digits = f"{max(0, int(seconds * 1000)):012x}"
    return f"{digits[:8]}-{digits[8:]}"
