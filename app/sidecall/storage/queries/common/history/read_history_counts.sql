SELECT value, span,
    CAST(SUM(errors) AS BIGINT), CAST(SUM(c0) AS BIGINT), CAST(SUM(c1) AS BIGINT), CAST(SUM(c2) AS BIGINT),
    CAST(SUM(c3) AS BIGINT), CAST(SUM(c4) AS BIGINT), CAST(SUM(c5) AS BIGINT), CAST(SUM(c6) AS BIGINT),
    CAST(SUM(c7) AS BIGINT), CAST(SUM(c8) AS BIGINT), CAST(SUM(c9) AS BIGINT), CAST(SUM(c10) AS BIGINT),
    CAST(SUM(c11) AS BIGINT), CAST(SUM(c12) AS BIGINT), CAST(SUM(c13) AS BIGINT), CAST(SUM(c14) AS BIGINT),
    CAST(SUM(c15) AS BIGINT)
FROM (
    SELECT * FROM history_counts
    WHERE tenant = $1 AND part = $2 AND unit = 'day' AND period >= $3 AND period < $4
    UNION ALL
    SELECT * FROM history_counts
    WHERE tenant = $1 AND part = $2 AND unit = 'hour' AND period >= $5 AND period < $6
    UNION ALL
    SELECT * FROM history_counts
    WHERE tenant = $1 AND part = $2 AND unit = 'hour' AND period >= $7 AND period < $8
) AS counted
GROUP BY value, span
