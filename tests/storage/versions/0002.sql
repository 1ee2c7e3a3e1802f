PRAGMA application_id = 1397310533;
BEGIN TRANSACTION;
CREATE TABLE approvals (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    fingerprint TEXT NOT NULL UNIQUE,
    status TEXT NOT NULL,
    is_running INTEGER NOT NULL,
    owner TEXT,
    expires_at REAL NOT NULL,
    size INTEGER NOT NULL,
    listed TEXT NOT NULL,
    record TEXT NOT NULL
);
CREATE TABLE contents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    size INTEGER NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    body BLOB NOT NULL
);
CREATE TABLE items (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    ttl REAL,
    expires_at REAL
);
CREATE TABLE schema_version (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at REAL NOT NULL
);
INSERT INTO "schema_version" VALUES(1,'begin',1.79534470929251909259e+09);
INSERT INTO "schema_version" VALUES(2,'items',1.79534470930652785298e+09);
CREATE TABLE servers (
    id TEXT NOT NULL PRIMARY KEY,
    started_at REAL NOT NULL,
    seen_at REAL NOT NULL
);
INSERT INTO "servers" VALUES('kept',1.0,1.0);
CREATE INDEX approvals_by_status ON approvals (status, number);
CREATE INDEX approvals_by_expiry ON approvals (expires_at, is_running, size);
CREATE INDEX contents_by_number ON contents (number, size);
CREATE INDEX contents_by_expiry ON contents (expires_at);
CREATE INDEX items_by_namespace ON items (tenant, namespace);
CREATE INDEX items_by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL;
DELETE FROM "sqlite_sequence";
COMMIT;
