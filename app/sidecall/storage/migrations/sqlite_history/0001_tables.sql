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

-- Which of them hold a call of this name, caller, status or kind, and which of their calls: a bit for each.
CREATE TABLE history_marks (
    tenant TEXT NOT NULL,
    mark TEXT NOT NULL,
    last_id TEXT NOT NULL,
    bits0 INTEGER NOT NULL DEFAULT -1,
    bits1 INTEGER NOT NULL DEFAULT -1,
    bits2 INTEGER NOT NULL DEFAULT -1,
    bits3 INTEGER NOT NULL DEFAULT -1,
    PRIMARY KEY (tenant, mark, last_id)
) WITHOUT ROWID;

-- Sums by the hour and by the day, each with the calls of 16 durations in one row.
CREATE TABLE history_counts (
    tenant TEXT NOT NULL,
    part TEXT NOT NULL,
    unit TEXT NOT NULL,
    period INTEGER NOT NULL,
    value TEXT NOT NULL,
    span INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    c0 INTEGER NOT NULL,
    c1 INTEGER NOT NULL,
    c2 INTEGER NOT NULL,
    c3 INTEGER NOT NULL,
    c4 INTEGER NOT NULL,
    c5 INTEGER NOT NULL,
    c6 INTEGER NOT NULL,
    c7 INTEGER NOT NULL,
    c8 INTEGER NOT NULL,
    c9 INTEGER NOT NULL,
    c10 INTEGER NOT NULL,
    c11 INTEGER NOT NULL,
    c12 INTEGER NOT NULL,
    c13 INTEGER NOT NULL,
    c14 INTEGER NOT NULL,
    c15 INTEGER NOT NULL,
    -- In billionths.
    cost INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, part, unit, period, value, span)
) WITHOUT ROWID;
CREATE INDEX history_counts_by_age ON history_counts (unit, period);
