-- One that has expired, and was not removed yet, begins anew.
INSERT INTO items (id, tenant, namespace, key, value, created_at, updated_at, ttl, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8)
ON CONFLICT (id) DO UPDATE SET
    value = excluded.value,
    created_at = CASE
        WHEN items.expires_at <= excluded.updated_at THEN excluded.created_at
        ELSE items.created_at
    END,
    updated_at = excluded.updated_at,
    ttl = excluded.ttl,
    expires_at = excluded.expires_at
RETURNING id
