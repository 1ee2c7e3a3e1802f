#!/usr/bin/env bash
# SQLite 3.54.1 in WAL mode writes nothing for an UPDATE that leaves its rows as they are: `changes()` counts the row, the
# transaction commits, and the log has not grown. An INSERT OR REPLACE of the same row and a PRAGMA user_version of the
# same number write a page each.
# A good guess would be that a committed UPDATE has written: a probe for "can this file be written" that updates a row to
# itself succeeds on a full disk, and then the first real write fails.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install --quiet --disable-pip-version-check apsw==3.54.1.0
cat >"$work/show.py" <<'PYTHON'
import os
import sys

import apsw

PATH = sys.argv[1]
WRITES = (
    "UPDATE notes SET text = text",
    "UPDATE notes SET text = 'a' WHERE id = 1",
    "UPDATE notes SET text = 'b' WHERE id = 1",
    "INSERT OR REPLACE INTO notes VALUES (1, 'b')",
    "PRAGMA user_version = 0",
)

database = apsw.Connection(PATH)
database.execute("PRAGMA journal_mode = WAL")
database.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
database.execute("INSERT INTO notes VALUES (1, 'a')")
print("SQLite", apsw.sqlite_lib_version())
for write in WRITES:
    before, counted = os.path.getsize(f"{PATH}-wal"), database.total_changes()
    database.execute(write)
    grown = os.path.getsize(f"{PATH}-wal") - before
    print(f"{write}: {database.total_changes() - counted} changed, {grown} bytes written")
PYTHON
"$work/env/bin/python" "$work/show.py" "$work/notes.db" | tee "$work/seen"
diff - "$work/seen" <<'SEEN' && echo "as described" || { echo "this has changed" >&2; exit 1; }
SQLite 3.54.1
UPDATE notes SET text = text: 1 changed, 0 bytes written
UPDATE notes SET text = 'a' WHERE id = 1: 1 changed, 0 bytes written
UPDATE notes SET text = 'b' WHERE id = 1: 1 changed, 4120 bytes written
INSERT OR REPLACE INTO notes VALUES (1, 'b'): 1 changed, 4120 bytes written
PRAGMA user_version = 0: 0 changed, 4120 bytes written
SEEN
