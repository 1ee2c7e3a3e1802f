SELECT count(*), coalesce(CAST(sum(size) AS BIGINT), 0)
FROM approvals
