SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM (
    SELECT size FROM calls WHERE free_at IS NOT NULL
    UNION ALL
    SELECT size FROM calls WHERE status IN ('queued', 'running', 'awaiting_approval')
) AS kept
