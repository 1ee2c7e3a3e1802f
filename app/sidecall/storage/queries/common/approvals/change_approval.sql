-- Where it stands as it stood ($2, $3, and with $14 who runs it), and what it takes now fits; $9 is what always does.
UPDATE approvals
SET status = $4, is_running = $5, owner = $6, size = CAST($7 AS BIGINT), listed = $11, record = $12,
    expires_at = coalesce(CAST($13 AS DOUBLE PRECISION), expires_at)
WHERE id = $1
    AND status = $2
    AND is_running = $3
    AND (CAST($14 AS TEXT) IS NULL OR owner = CAST($14 AS TEXT))
    AND (expires_at > $10 OR is_running = 1)
    AND (
        CAST($7 AS BIGINT) <= size + CAST($9 AS BIGINT)
        OR (SELECT sum(size) FROM approvals) - size + CAST($7 AS BIGINT) <= CAST($8 AS BIGINT)
    )
RETURNING id
