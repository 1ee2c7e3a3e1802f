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
