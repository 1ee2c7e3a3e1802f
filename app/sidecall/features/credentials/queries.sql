-- Secrets that callers keep for their own calls; they are encrypted.

-- name: put_secret
-- One that takes the place of another needs no room.
INSERT INTO caller_secrets (name, tenant, caller, key_id, sealed, created_at, updated_at)
SELECT $1, $2, $3, $4, $5, CAST($6 AS DOUBLE PRECISION), CAST($6 AS DOUBLE PRECISION)
WHERE (SELECT count(*) FROM caller_secrets WHERE NOT (tenant = $2 AND caller = $3 AND name = $1)) < CAST($7 AS BIGINT)
ON CONFLICT (tenant, caller, name) DO UPDATE SET
    key_id = excluded.key_id,
    sealed = excluded.sealed,
    updated_at = excluded.updated_at
RETURNING name

-- name: find_secrets
SELECT tenant, caller, name, key_id, sealed
FROM caller_secrets {where}

-- name: list_old_secrets
SELECT tenant, caller, name, key_id, sealed
FROM caller_secrets
WHERE key_id <> $1
ORDER BY number
LIMIT $2

-- name: list_secrets
SELECT name, created_at, updated_at
FROM caller_secrets
WHERE tenant = $1 AND caller = $2
ORDER BY name

-- name: renew_secret
UPDATE caller_secrets
SET key_id = $4, sealed = $5
WHERE name = $1 AND tenant = $2 AND caller = $3 AND sealed = $6
RETURNING name

-- name: remove_secret
DELETE FROM caller_secrets
WHERE name = $1 AND tenant = $2 AND caller = $3
RETURNING name
