-- Who has decided what, or was refused.
CREATE TABLE audit_entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    at REAL NOT NULL,
    action TEXT NOT NULL,
    subject TEXT,
    target TEXT,
    details TEXT NOT NULL,
    count INTEGER NOT NULL
);
CREATE INDEX audit_entries_by_tenant ON audit_entries (tenant, number);
CREATE INDEX audit_entries_by_action ON audit_entries (action, number);
CREATE INDEX audit_entries_by_time ON audit_entries (at);
