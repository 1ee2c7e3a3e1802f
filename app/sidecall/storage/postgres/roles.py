"""The roles of a PostgreSQL database: their tables, and their text in the log."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DatabaseRole:
    """Some tables of one database, used together over connections of their own."""

    name: str
    loss: str
    tables: tuple[str, ...]


LEDGER = DatabaseRole(
    "the ledger",
    "calls that have to be remembered get 503",
    (
        *("approval_rules", "approvals", "audit_entries", "call_rates", "caller_secrets"),
        *("call_progress", "calls", "contents", "items", "servers", "spending"),
    ),
)
HISTORY = DatabaseRole(
    "the history",
    "calls that end are kept in memory as far as there is room",
    ("history_blocks", "history_counts", "history_marks"),
)
FILES = DatabaseRole(
    "the files",
    "files can be neither sent nor searched",
    ("file_attributes", "file_pieces", "file_words", "files", "vector_store_files", "vector_stores"),
)
