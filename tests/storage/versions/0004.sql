PRAGMA application_id = 1397310533;
BEGIN TRANSACTION;
CREATE TABLE approval_messages (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    receiver TEXT NOT NULL,
    approval_id TEXT NOT NULL,
    event TEXT NOT NULL,
    status TEXT NOT NULL,
    listed TEXT,
    at REAL NOT NULL,
    due_at REAL NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE approval_receivers (
    id TEXT NOT NULL PRIMARY KEY,
    notice REAL NOT NULL,
    most INTEGER NOT NULL,
    until REAL NOT NULL
);
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
, conversation_id TEXT, trace_id TEXT, request_id TEXT, waited REAL, attempts INTEGER);
CREATE TABLE console_sessions (
    id TEXT PRIMARY KEY,
    sealed TEXT NOT NULL,
    begun_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
);
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
CREATE TABLE feature_versions (
    feature text NOT NULL,
    version bigint NOT NULL,
    name text NOT NULL,
    applied_at double precision NOT NULL,
    PRIMARY KEY (feature, version)
);
INSERT INTO "feature_versions" VALUES('approval_webhooks',1,'messages',1.7959440436053421497e+09);
INSERT INTO "feature_versions" VALUES('console',1,'sessions',1.79594404360534405703e+09);
INSERT INTO "feature_versions" VALUES('costs',1,'spending',1.79594404360534501069e+09);
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
INSERT INTO "schema_version" VALUES(1,'tables',1.7959440436053242683e+09);
INSERT INTO "schema_version" VALUES(2,'origins',1.79594404360533714298e+09);
INSERT INTO "schema_version" VALUES(3,'turns',1.79594404360533905031e+09);
INSERT INTO "schema_version" VALUES(4,'ends',1.79594404360534095764e+09);
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
CREATE INDEX calls_by_name ON calls (name, id);
CREATE INDEX calls_by_caller ON calls (caller, id);
CREATE INDEX calls_to_tell ON calls (callback_at) WHERE callback_at IS NOT NULL;
CREATE INDEX calls_free ON calls (free_at, ended_at, size) WHERE free_at IS NOT NULL;
CREATE INDEX audit_entries_by_tenant ON audit_entries (tenant, number);
CREATE INDEX audit_entries_by_action ON audit_entries (action, number);
CREATE INDEX audit_entries_by_time ON audit_entries (at);
CREATE INDEX call_progress_at ON call_progress (at);
CREATE INDEX calls_by_conversation ON calls (conversation_id, id) WHERE conversation_id IS NOT NULL;
CREATE INDEX calls_by_trace ON calls (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX calls_by_request ON calls (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX calls_by_kind ON calls (kind, id) WHERE kind IS NOT NULL;
CREATE INDEX calls_open ON calls (status, id) WHERE ended_at IS NULL;
CREATE INDEX calls_by_status ON calls (status, id) WHERE ended_at IS NOT NULL AND status <> 'succeeded';
CREATE INDEX approval_messages_due ON approval_messages (receiver, due_at, number);
CREATE INDEX approval_messages_by_approval ON approval_messages (approval_id);
CREATE VIEW approval_receivers_open AS
SELECT id, notice, now
FROM (SELECT *, (julianday('now') - 2440587.5) * 86400.0 AS now FROM approval_receivers)
WHERE until > now AND (SELECT count(*) FROM approval_messages WHERE receiver = id) < most;
CREATE TRIGGER approval_messages_of_new AFTER INSERT ON approvals
WHEN new.status = 'pending' AND EXISTS (SELECT 1 FROM approval_receivers)
BEGIN
    DELETE FROM approval_messages WHERE receiver IN (
        SELECT id FROM approval_receivers WHERE until <= (julianday('now') - 2440587.5) * 86400.0
    );
    DELETE FROM approval_receivers WHERE until <= (julianday('now') - 2440587.5) * 86400.0;
    INSERT INTO approval_messages (receiver, approval_id, event, status, listed, at, due_at)
    SELECT id, new.id, 'approval.requested', new.status,
        CASE WHEN length(new.listed) <= 65536 THEN new.listed END, now, 0
    FROM approval_receivers_open;
    INSERT INTO approval_messages (receiver, approval_id, event, status, listed, at, due_at)
    SELECT id, new.id, 'approval.expiring', new.status,
        CASE WHEN length(new.listed) <= 65536 THEN new.listed END, soon, soon
    FROM (
        SELECT id, new.expires_at - min(notice, max(0, new.expires_at - now) / 2) AS soon FROM approval_receivers_open
    );
END;
CREATE TRIGGER approval_messages_of_reopened AFTER UPDATE OF status ON approvals
WHEN new.status = 'pending' AND old.status <> 'pending' AND EXISTS (SELECT 1 FROM approval_receivers)
BEGIN
    INSERT INTO approval_messages (receiver, approval_id, event, status, listed, at, due_at)
    SELECT id, new.id, 'approval.requested', new.status,
        CASE WHEN length(new.listed) <= 65536 THEN new.listed END, now, 0
    FROM approval_receivers_open;
    INSERT INTO approval_messages (receiver, approval_id, event, status, listed, at, due_at)
    SELECT id, new.id, 'approval.expiring', new.status,
        CASE WHEN length(new.listed) <= 65536 THEN new.listed END, soon, soon
    FROM (
        SELECT id, new.expires_at - min(notice, max(0, new.expires_at - now) / 2) AS soon FROM approval_receivers_open
    );
END;
CREATE TRIGGER approval_messages_of_decided AFTER UPDATE OF status ON approvals
WHEN old.status = 'pending' AND new.status IN ('approved', 'rejected', 'cancelled')
    AND EXISTS (SELECT 1 FROM approval_receivers)
BEGIN
    DELETE FROM approval_messages WHERE approval_id = new.id AND event = 'approval.expiring' AND tries = 0;
    INSERT INTO approval_messages (receiver, approval_id, event, status, listed, at, due_at)
    SELECT id, new.id, 'approval.decided', new.status,
        CASE WHEN length(new.listed) <= 65536 THEN new.listed END, now, 0
    FROM approval_receivers_open;
END;
CREATE INDEX console_sessions_by_age ON console_sessions (seen_at);
CREATE INDEX spending_by_age ON spending (ends_at);
DELETE FROM "sqlite_sequence";
COMMIT;
