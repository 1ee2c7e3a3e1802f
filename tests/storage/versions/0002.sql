PRAGMA application_id = 1397310533;
BEGIN TRANSACTION;
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
CREATE TABLE call_progress (
    call_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    number INTEGER NOT NULL,
    said TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (call_id, attempt, number)
);
CREATE TABLE caller_secrets (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT NOT NULL,
    caller TEXT NOT NULL,
    name TEXT NOT NULL,
    key_id TEXT NOT NULL,
    sealed BLOB NOT NULL,
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    UNIQUE (tenant, caller, name)
);
CREATE TABLE calls (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    caller TEXT NOT NULL,
    name TEXT NOT NULL,
    call_id TEXT NOT NULL,
    status TEXT NOT NULL,
    kind TEXT,
    is_durable INTEGER NOT NULL,
    is_unwanted INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL,
    owner TEXT,
    created_at REAL NOT NULL,
    started_at REAL,
    ended_at REAL,
    args TEXT,
    record TEXT,
    message TEXT,
    size INTEGER NOT NULL,
    key TEXT,
    fingerprint TEXT,
    key_expires_at REAL,
    approval_id TEXT,
    replay_of TEXT,
    -- Who is informed that the call has ended, when that is tried next (NULL once nothing is left to do), and how
    -- often it was.
    callback_url TEXT,
    callback_at REAL,
    callback_tries INTEGER NOT NULL DEFAULT 0,
    -- From when on an ended call may be forgotten: it is not to be found by its key or its approval any more.
    free_at REAL,
    -- What a person has said of it, as JSON: its approval is forgotten long before the call.
    decision TEXT,
    -- In billionths, once it has ended.
    cost INTEGER
, conversation_id TEXT, trace_id TEXT, request_id TEXT);
CREATE TABLE contents (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    size INTEGER NOT NULL,
    created_at REAL NOT NULL,
    expires_at REAL NOT NULL,
    body BLOB NOT NULL,
    -- Whose it is within its tenant, and what it is.
    caller TEXT NOT NULL DEFAULT 'anonymous',
    media_type TEXT NOT NULL DEFAULT 'text/plain; charset=utf-8'
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
INSERT INTO "schema_version" VALUES(1,'tables',1.79584472686187529566e+09);
INSERT INTO "schema_version" VALUES(2,'origins',1.79584472686189842221e+09);
CREATE TABLE servers (
    id TEXT NOT NULL PRIMARY KEY,
    started_at REAL NOT NULL,
    seen_at REAL NOT NULL
);
INSERT INTO "servers" VALUES('kept',1.0,1.0);
CREATE TABLE spending (
    key TEXT NOT NULL,
    begins_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    spent INTEGER NOT NULL,
    PRIMARY KEY (key, begins_at)
);
CREATE INDEX approvals_by_status ON approvals (status, number);
CREATE INDEX approvals_by_expiry ON approvals (expires_at, is_running, size);
CREATE INDEX contents_by_number ON contents (number, size);
CREATE INDEX contents_by_expiry ON contents (expires_at);
CREATE INDEX contents_by_caller ON contents (tenant, caller, number, size, expires_at);
CREATE INDEX items_by_namespace ON items (tenant, namespace);
CREATE INDEX items_by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL;
CREATE UNIQUE INDEX calls_by_key ON calls (key) WHERE key IS NOT NULL;
CREATE INDEX calls_open ON calls (status, id) WHERE status IN ('queued', 'running', 'awaiting_approval');
CREATE INDEX calls_by_name ON calls (name, id);
CREATE INDEX calls_by_status ON calls (status, id) WHERE status NOT IN ('succeeded', 'queued', 'running', 'awaiting_approval');
CREATE INDEX calls_by_caller ON calls (caller, id);
CREATE INDEX calls_to_tell ON calls (callback_at) WHERE callback_at IS NOT NULL;
CREATE INDEX calls_free ON calls (free_at, ended_at, size) WHERE free_at IS NOT NULL;
CREATE INDEX audit_entries_by_tenant ON audit_entries (tenant, number);
CREATE INDEX audit_entries_by_action ON audit_entries (action, number);
CREATE INDEX audit_entries_by_time ON audit_entries (at);
CREATE INDEX call_progress_at ON call_progress (at);
CREATE INDEX spending_by_age ON spending (ends_at);
CREATE INDEX calls_by_conversation ON calls (conversation_id, id) WHERE conversation_id IS NOT NULL;
CREATE INDEX calls_by_trace ON calls (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX calls_by_request ON calls (request_id) WHERE request_id IS NOT NULL;
DELETE FROM "sqlite_sequence";
COMMIT;
