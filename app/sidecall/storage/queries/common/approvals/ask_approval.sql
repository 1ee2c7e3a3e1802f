INSERT INTO approvals (id, tenant, fingerprint, status, is_running, expires_at, size, listed, record)
SELECT $1, $2, $3, 'pending', 0, CAST($4 AS DOUBLE PRECISION), CAST($5 AS BIGINT), $6, $7
WHERE (SELECT count(*) FROM approvals WHERE status = 'pending' OR is_running = 1) < CAST($8 AS BIGINT)
    AND (SELECT coalesce(sum(size), 0) FROM approvals) + CAST($5 AS BIGINT) <= CAST($9 AS BIGINT)
ON CONFLICT (fingerprint) DO NOTHING
RETURNING id
