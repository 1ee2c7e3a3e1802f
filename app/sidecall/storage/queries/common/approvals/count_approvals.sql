-- Those that wait or run, and the bytes of all.
SELECT
    CAST(coalesce(sum(CASE WHEN status = 'pending' OR is_running = 1 THEN 1 ELSE 0 END), 0) AS BIGINT),
    coalesce(CAST(sum(size) AS BIGINT), 0)
FROM approvals
