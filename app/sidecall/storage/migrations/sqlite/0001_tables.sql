-- "SIDE": says that the file is one of ours.
PRAGMA application_id = 1397310533;

CREATE TABLE schema_version (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at REAL NOT NULL
);

-- Processes that use this database.
CREATE TABLE servers (
    id TEXT NOT NULL PRIMARY KEY,
    started_at REAL NOT NULL,
    seen_at REAL NOT NULL
);

-- Calls that wait for a person, and those that a person has decided.
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
CREATE INDEX approvals_by_status ON approvals (status, number);
CREATE INDEX approvals_by_expiry ON approvals (expires_at, is_running, size);

-- Results that were cut, kept whole.
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
CREATE INDEX contents_by_number ON contents (number, size);
CREATE INDEX contents_by_expiry ON contents (expires_at);
-- What one caller keeps is summed up at each upload.
CREATE INDEX contents_by_caller ON contents (tenant, caller, number, size, expires_at);

-- What tools remember. The id stands for tenant, namespace and key, which are JSON, as is the value.
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
CREATE INDEX items_by_namespace ON items (tenant, namespace);
CREATE INDEX items_by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL;

-- Calls that are remembered.
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
);
CREATE UNIQUE INDEX calls_by_key ON calls (key) WHERE key IS NOT NULL;
CREATE INDEX calls_open ON calls (status, id) WHERE status IN ('queued', 'running', 'awaiting_approval');
CREATE INDEX calls_by_name ON calls (name, id);
CREATE INDEX calls_by_status ON calls (status, id) WHERE status NOT IN ('succeeded', 'queued', 'running', 'awaiting_approval');
CREATE INDEX calls_by_caller ON calls (caller, id);
CREATE INDEX calls_to_tell ON calls (callback_at) WHERE callback_at IS NOT NULL;
CREATE INDEX calls_free ON calls (free_at, ended_at, size) WHERE free_at IS NOT NULL;

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

-- What callers keep for their own calls; `sealed` is encrypted.
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

-- What tools say while they run, for those who watch at another worker.
CREATE TABLE call_progress (
    call_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    number INTEGER NOT NULL,
    said TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (call_id, attempt, number)
);
CREATE INDEX call_progress_at ON call_progress (at);
