-- The time of a key begins anew with the end: its call may have waited or run for longer than that.
UPDATE calls SET status = $3, kind = $4, message = $5, ended_at = $6, size = size + $7, decision = $9, owner = NULL,
    key_expires_at = key_expires_at + CAST($6 AS DOUBLE PRECISION) - created_at,
    free_at = CASE WHEN key_expires_at + CAST($6 AS DOUBLE PRECISION) - created_at > CAST($8 AS DOUBLE PRECISION)
        THEN key_expires_at + CAST($6 AS DOUBLE PRECISION) - created_at ELSE CAST($8 AS DOUBLE PRECISION) END
WHERE id = $1 AND attempt = $2 AND status = 'running'
RETURNING id
