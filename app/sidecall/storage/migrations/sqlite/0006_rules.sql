-- What people have decided about later calls: one rule for each tool of a caller.
CREATE TABLE approval_rules (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    caller TEXT NOT NULL,
    tool TEXT NOT NULL,
    definition TEXT NOT NULL,
    decision TEXT NOT NULL,
    reason TEXT,
    decided_by TEXT NOT NULL,
    decided_at REAL NOT NULL,
    expires_at REAL,
    approval_id TEXT NOT NULL,
    UNIQUE (tenant, caller, tool)
);
