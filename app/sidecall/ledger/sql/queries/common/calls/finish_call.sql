UPDATE calls SET status = $3, kind = $4, message = $5, ended_at = $6, size = size + $7, owner = NULL,
    free_at = CASE WHEN key_expires_at > CAST($8 AS DOUBLE PRECISION) THEN key_expires_at ELSE CAST($8 AS DOUBLE PRECISION) END
WHERE id = $1 AND attempt = $2 AND status = 'running'
RETURNING id
