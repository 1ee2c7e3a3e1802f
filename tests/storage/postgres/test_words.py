"""Which errors of the driver say that the database cannot be used."""

import asyncpg
import pytest

from sidecall.storage.postgres.tables import is_of_all, is_unavailable

ERRORS = {
    "reset": (ConnectionResetError(), True, True),
    "late": (TimeoutError(), True, True),
    "closed": (asyncpg.InterfaceError("connection is closed"), True, True),
    "broken as it was made": (asyncpg.InternalClientError("cannot switch to state 12"), True, True),
    "disk full": (asyncpg.DiskFullError("no space left"), True, True),
    "another's session": (asyncpg.InvalidSQLStatementNameError("prepared statement does not exist"), True, True),
    "another's statement": (asyncpg.DuplicatePreparedStatementError("prepared statement exists"), True, True),
    "row held by others": (asyncpg.LockNotAvailableError("canceling statement due to lock timeout"), True, False),
    "refused by the driver": (asyncpg.DataError("invalid input for query argument $1"), False, False),
    "wrong statement": (asyncpg.PostgresSyntaxError("syntax error"), False, False),
    "a defect": (KeyError("x"), False, False),
}


@pytest.mark.parametrize(("error", "unavailable", "of_all"), ERRORS.values(), ids=ERRORS)
def test_errors_are_told_apart(error: Exception, unavailable: bool, of_all: bool) -> None:
    """Those after which others may succeed, and those after which no statement would."""
    assert (is_unavailable(error), is_of_all(error)) == (unavailable, of_all)
