SELECT value, is_error, bucket, CAST(SUM(calls) AS BIGINT) FROM history_sums
WHERE tenant = $1 AND part = $2 AND hour >= $3 AND hour < $4
GROUP BY value, is_error, bucket
