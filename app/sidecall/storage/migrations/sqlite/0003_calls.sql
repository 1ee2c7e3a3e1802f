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
    replay_of TEXT
);
CREATE UNIQUE INDEX calls_by_key ON calls (key) WHERE key IS NOT NULL;
CREATE INDEX calls_open ON calls (status, id) WHERE status IN ('queued', 'running', 'awaiting_approval');
CREATE INDEX calls_by_name ON calls (name, id);
CREATE INDEX calls_by_status ON calls (status, id) WHERE status NOT IN ('succeeded', 'queued', 'running', 'awaiting_approval');
CREATE INDEX calls_by_caller ON calls (caller, id);
