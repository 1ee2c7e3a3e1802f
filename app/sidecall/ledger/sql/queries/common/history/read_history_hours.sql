SELECT CAST(hour AS TEXT), is_error, bucket, CAST(SUM(calls) AS BIGINT) FROM history_sums
WHERE tenant = $1 AND part = 'status' AND hour >= $2 AND hour < $3
GROUP BY hour, is_error, bucket
