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
