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
