-- The time of a key begins anew with the end: its call may have waited or run for longer than that.
UPDATE calls SET status = $2, kind = $3, message = $4, ended_at = $5, size = size + $6, decision = coalesce($9, decision),
    started_at = CASE WHEN CAST($8 AS INTEGER) = 1 THEN NULL ELSE started_at END,
    key_expires_at = key_expires_at + CAST($5 AS DOUBLE PRECISION) - created_at,
    free_at = CASE WHEN key_expires_at + CAST($5 AS DOUBLE PRECISION) - created_at > CAST($7 AS DOUBLE PRECISION)
        THEN key_expires_at + CAST($5 AS DOUBLE PRECISION) - created_at ELSE CAST($7 AS DOUBLE PRECISION) END
WHERE id = $1 AND status = 'awaiting_approval'
RETURNING id
