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
