-- Processes that use this database.
CREATE TABLE servers (
    id text PRIMARY KEY,
    started_at double precision NOT NULL,
    seen_at double precision NOT NULL
);

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

CREATE TABLE contents (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    tenant text NOT NULL,
    size bigint NOT NULL,
    created_at double precision NOT NULL,
    expires_at double precision NOT NULL,
    body bytea NOT NULL
);
CREATE INDEX contents_by_number ON contents (number, size);
CREATE INDEX contents_by_expiry ON contents (expires_at);
