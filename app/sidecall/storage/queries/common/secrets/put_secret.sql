-- One that takes the place of another needs no room.
INSERT INTO caller_secrets (name, tenant, caller, key_id, sealed, created_at, updated_at)
SELECT $1, $2, $3, $4, $5, CAST($6 AS DOUBLE PRECISION), CAST($6 AS DOUBLE PRECISION)
WHERE (SELECT count(*) FROM caller_secrets WHERE NOT (tenant = $2 AND caller = $3 AND name = $1)) < CAST($7 AS BIGINT)
ON CONFLICT (tenant, caller, name) DO UPDATE SET
    key_id = excluded.key_id,
    sealed = excluded.sealed,
    updated_at = excluded.updated_at
RETURNING name
