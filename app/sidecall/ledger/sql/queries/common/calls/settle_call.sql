UPDATE calls SET status = $2, kind = $3, message = $4, ended_at = $5, size = size + $6, decision = $9,
    started_at = CASE WHEN CAST($8 AS INTEGER) = 1 THEN NULL ELSE started_at END,
    free_at = CASE WHEN key_expires_at > CAST($7 AS DOUBLE PRECISION) THEN key_expires_at ELSE CAST($7 AS DOUBLE PRECISION) END
WHERE id = $1 AND status = 'awaiting_approval'
RETURNING id
