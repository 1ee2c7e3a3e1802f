"""What was said to be durable is there after `kill -9`."""

from pathlib import Path

from tests.storage.sql.killing import find, kill

ROUNDS = 5


def test_nothing_that_was_said_to_be_durable_is_lost(tmp_path: Path) -> None:
    """However often, and wherever it is hit; a lock that was held keeps nobody out."""
    path = tmp_path / "ledger.db"
    said: set[str] = set()
    for number in range(ROUNDS):
        said |= kill(path, number, ("server", "writer", "both")[number % 3]).said
        whole, found = find(path)

        assert whole == "ok"
        assert said <= found
    assert len(said) > 1000
