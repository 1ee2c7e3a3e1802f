"""How much room values take that wait to be written."""

from sidecall.ledger.sql.database import Row


def measure(values: Row) -> int:
    """Return about how many bytes a row takes.

    Raises:
        TypeError: A value of it cannot be written.
    """
    size = 0
    for value in values:
        if type(value) is str or type(value) is bytes:
            size += len(value)
        elif value is not None and not isinstance(value, (int, float, str, bytes)):
            raise TypeError(f"A {type(value).__name__} cannot be written into a database.")
    return size
