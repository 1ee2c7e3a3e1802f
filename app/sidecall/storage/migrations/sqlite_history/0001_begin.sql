-- "SIDE": says that the file is one of ours.
PRAGMA application_id = 1397310533;

CREATE TABLE schema_version (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at REAL NOT NULL
);

-- Calls that have ended, many in a row.
CREATE TABLE history_blocks (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    last_id TEXT NOT NULL,
    first_id TEXT NOT NULL,
    calls INTEGER NOT NULL,
    size INTEGER NOT NULL,
    heads BLOB NOT NULL,
    bodies BLOB NOT NULL
);
CREATE UNIQUE INDEX history_blocks_by_id ON history_blocks (tenant, last_id);

-- Which of them hold a call of this name, caller, status or kind.
CREATE TABLE history_marks (
    tenant TEXT NOT NULL,
    mark TEXT NOT NULL,
    last_id TEXT NOT NULL,
    PRIMARY KEY (tenant, mark, last_id)
) WITHOUT ROWID;

CREATE TABLE history_sums (
    tenant TEXT NOT NULL,
    part TEXT NOT NULL,
    hour INTEGER NOT NULL,
    value TEXT NOT NULL,
    is_error INTEGER NOT NULL,
    bucket INTEGER NOT NULL,
    calls INTEGER NOT NULL,
    PRIMARY KEY (tenant, part, hour, value, is_error, bucket)
) WITHOUT ROWID;
