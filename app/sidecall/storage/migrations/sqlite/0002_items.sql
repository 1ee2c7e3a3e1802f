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
