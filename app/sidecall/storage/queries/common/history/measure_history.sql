SELECT CAST(coalesce(SUM(calls), 0) AS BIGINT), CAST(coalesce(SUM(size), 0) AS BIGINT) FROM history_blocks
