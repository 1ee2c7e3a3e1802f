-- Who has decided what, or was refused.

-- name: add_audit_entry
INSERT INTO audit_entries (id, tenant, at, action, subject, target, details, count)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (id) DO NOTHING
RETURNING id

-- name: list_audit_entries
SELECT number, id, tenant, at, action, subject, target, details, count
FROM audit_entries {where}

-- name: forget_audit_entries
-- What is too old ($1), and the oldest beyond $2.
DELETE FROM audit_entries
WHERE at <= $1
    OR number <= (SELECT number FROM audit_entries ORDER BY number DESC LIMIT 1 OFFSET CAST($2 AS BIGINT))

-- name: forget_refusals
-- The oldest beyond $1.
DELETE FROM audit_entries
WHERE action = 'denied'
    AND number <= (
        SELECT number FROM audit_entries
        WHERE action = 'denied'
        ORDER BY number DESC
        LIMIT 1 OFFSET CAST($1 AS BIGINT)
    )
