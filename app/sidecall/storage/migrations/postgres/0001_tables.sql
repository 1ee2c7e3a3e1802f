-- Processes that use this database.
CREATE TABLE servers (
    id text PRIMARY KEY,
    started_at double precision NOT NULL,
    seen_at double precision NOT NULL
);

-- Calls that wait for a person, and those that a person has decided.
CREATE TABLE approvals (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    tenant text NOT NULL,
    fingerprint text NOT NULL UNIQUE,
    status text NOT NULL,
    is_running bigint NOT NULL,
    owner text,
    expires_at double precision NOT NULL,
    size bigint NOT NULL,
    listed text NOT NULL,
    record text NOT NULL
);
CREATE INDEX approvals_by_status ON approvals (status, number);
CREATE INDEX approvals_by_expiry ON approvals (expires_at, is_running, size);

-- Results that were cut, kept whole.
CREATE TABLE contents (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    tenant text NOT NULL,
    size bigint NOT NULL,
    created_at double precision NOT NULL,
    expires_at double precision NOT NULL,
    body bytea NOT NULL,
    -- Whose it is within its tenant, and what it is.
    caller text NOT NULL DEFAULT 'anonymous',
    media_type text NOT NULL DEFAULT 'text/plain; charset=utf-8'
);
CREATE INDEX contents_by_number ON contents (number, size);
CREATE INDEX contents_by_expiry ON contents (expires_at);
-- What one caller keeps is summed up at each upload.
CREATE INDEX contents_by_caller ON contents (tenant, caller, number, size, expires_at);

-- What tools remember. The id stands for tenant, namespace and key, which are JSON, as is the value.
CREATE TABLE items (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    tenant text COLLATE "C" NOT NULL,
    namespace text COLLATE "C" NOT NULL,
    key text NOT NULL,
    value text NOT NULL,
    created_at double precision NOT NULL,
    updated_at double precision NOT NULL,
    ttl double precision,
    expires_at double precision
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
    created_at DOUBLE PRECISION NOT NULL,
    started_at DOUBLE PRECISION,
    ended_at DOUBLE PRECISION,
    args TEXT,
    record TEXT,
    message TEXT,
    size INTEGER NOT NULL,
    key TEXT,
    fingerprint TEXT,
    key_expires_at DOUBLE PRECISION,
    approval_id TEXT,
    replay_of TEXT,
    -- Who is informed that the call has ended, when that is tried next (NULL once nothing is left to do), and how
    -- often it was.
    callback_url TEXT,
    callback_at DOUBLE PRECISION,
    callback_tries INTEGER NOT NULL DEFAULT 0,
    -- From when on an ended call may be forgotten: it is not to be found by its key or its approval any more.
    free_at double precision,
    -- What a person has said of it, as JSON: its approval is forgotten long before the call.
    decision TEXT,
    -- In billionths, once it has ended.
    cost bigint
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
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    tenant text NOT NULL,
    caller text NOT NULL,
    tool text NOT NULL,
    definition text NOT NULL,
    decision text NOT NULL,
    reason text,
    decided_by text NOT NULL,
    decided_at double precision NOT NULL,
    expires_at double precision,
    approval_id text NOT NULL,
    UNIQUE (tenant, caller, tool)
);

-- Who has decided what, or was refused.
CREATE TABLE audit_entries (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    tenant text NOT NULL,
    at double precision NOT NULL,
    action text NOT NULL,
    subject text,
    target text,
    details text NOT NULL,
    count bigint NOT NULL
);
CREATE INDEX audit_entries_by_tenant ON audit_entries (tenant, number);
CREATE INDEX audit_entries_by_action ON audit_entries (action, number);
CREATE INDEX audit_entries_by_time ON audit_entries (at);

-- What callers keep for their own calls; `sealed` is encrypted.
CREATE TABLE caller_secrets (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    caller text NOT NULL,
    name text NOT NULL,
    key_id text NOT NULL,
    sealed bytea NOT NULL,
    created_at double precision NOT NULL,
    updated_at double precision NOT NULL,
    UNIQUE (tenant, caller, name)
);

-- When all calls of a caller, or of a caller and a tool, are back; and what was granted last. Times are nanoseconds.
-- What is lost in a crash are calls that come back anyway, so it is not logged.
CREATE UNLOGGED TABLE call_rates (
    key text PRIMARY KEY,
    whole_at bigint NOT NULL,
    granted bigint NOT NULL,
    spent bigint NOT NULL
);

-- What tools say while they run, for those who watch at another server. It is not worth a log: who needs it is there.
CREATE UNLOGGED TABLE call_progress (
    call_id text NOT NULL,
    attempt integer NOT NULL,
    number bigint NOT NULL,
    said text NOT NULL,
    at double precision NOT NULL,
    PRIMARY KEY (call_id, attempt, number)
);
CREATE INDEX call_progress_at ON call_progress (at);

-- Calls that have ended, many in a row.
CREATE TABLE history_blocks (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    last_id text COLLATE "C" NOT NULL,
    first_id text COLLATE "C" NOT NULL,
    calls bigint NOT NULL,
    size bigint NOT NULL,
    heads bytea NOT NULL,
    bodies bytea NOT NULL,
    UNIQUE (tenant, last_id)
);
-- They are read far more often than written, and hardly shrink: a page of a rare kind reads those of a hundred blocks.
ALTER TABLE history_blocks ALTER COLUMN heads SET STORAGE EXTERNAL;

-- Which of them hold a call of this name, caller, status or kind, and which of their calls: a bit for each.
CREATE TABLE history_marks (
    tenant text NOT NULL,
    mark text NOT NULL,
    last_id text COLLATE "C" NOT NULL,
    bits0 bigint NOT NULL DEFAULT -1,
    bits1 bigint NOT NULL DEFAULT -1,
    bits2 bigint NOT NULL DEFAULT -1,
    bits3 bigint NOT NULL DEFAULT -1,
    PRIMARY KEY (tenant, mark, last_id)
);

-- Sums by the hour and by the day, each with the calls of 16 durations in one row.
CREATE TABLE history_counts (
    tenant text NOT NULL,
    part text NOT NULL,
    unit text NOT NULL,
    period bigint NOT NULL,
    value text NOT NULL,
    span bigint NOT NULL,
    errors bigint NOT NULL,
    c0 bigint NOT NULL,
    c1 bigint NOT NULL,
    c2 bigint NOT NULL,
    c3 bigint NOT NULL,
    c4 bigint NOT NULL,
    c5 bigint NOT NULL,
    c6 bigint NOT NULL,
    c7 bigint NOT NULL,
    c8 bigint NOT NULL,
    c9 bigint NOT NULL,
    c10 bigint NOT NULL,
    c11 bigint NOT NULL,
    c12 bigint NOT NULL,
    c13 bigint NOT NULL,
    c14 bigint NOT NULL,
    c15 bigint NOT NULL,
    -- In billionths.
    cost bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, part, unit, period, value, span)
);
CREATE INDEX history_counts_by_age ON history_counts (unit, period);

-- What programs have sent to be searched.
CREATE TABLE files (
    id text COLLATE "C" PRIMARY KEY,
    tenant text NOT NULL,
    name text NOT NULL,
    purpose text NOT NULL,
    size bigint NOT NULL,
    created_at double precision NOT NULL,
    body bytea NOT NULL
);
CREATE INDEX files_of_tenant ON files (tenant, id, size);

CREATE TABLE vector_stores (
    id text COLLATE "C" PRIMARY KEY,
    tenant text NOT NULL,
    name text NOT NULL,
    metadata text NOT NULL,
    created_at double precision NOT NULL
);
CREATE INDEX vector_stores_of_tenant ON vector_stores (tenant, id);

-- The files of stores; of each the pieces and attributes have its number.
CREATE TABLE vector_store_files (
    id text COLLATE "C" PRIMARY KEY,
    number bigint NOT NULL UNIQUE,
    tenant text NOT NULL,
    store text COLLATE "C" NOT NULL REFERENCES vector_stores (id) ON DELETE CASCADE,
    file text COLLATE "C" NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    created_at double precision NOT NULL,
    status text NOT NULL,
    error text NOT NULL,
    attributes text NOT NULL,
    piece bigint NOT NULL,
    overlap bigint NOT NULL,
    size bigint NOT NULL
);
CREATE INDEX vector_store_files_of_store ON vector_store_files (store, status, size);
CREATE INDEX vector_store_files_of_tenant ON vector_store_files (tenant, size);
CREATE INDEX vector_store_files_of_file ON vector_store_files (file);

CREATE TABLE file_attributes (
    member bigint NOT NULL REFERENCES vector_store_files (number) ON DELETE CASCADE,
    name text NOT NULL,
    kind text NOT NULL,
    text text COLLATE "C",
    number double precision,
    PRIMARY KEY (member, name)
);

CREATE TABLE file_pieces (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    member bigint NOT NULL REFERENCES vector_store_files (number) ON DELETE CASCADE,
    text text NOT NULL,
    vector bytea
);
CREATE INDEX file_pieces_of_member ON file_pieces (member);

-- Apart, so that what is ranked is read without what is shown.
CREATE TABLE file_words (
    piece bigint PRIMARY KEY REFERENCES file_pieces (id) ON DELETE CASCADE,
    member bigint NOT NULL,
    words tsvector NOT NULL
);
ALTER TABLE file_words ALTER COLUMN words SET STORAGE MAIN;
-- Words of new pieces wait in a list, and go into the index many at once, which takes a third of the time. The list is
-- short, since each search reads it.
CREATE INDEX file_words_found ON file_words USING gin (words) WITH (fastupdate = on, gin_pending_list_limit = 128);
