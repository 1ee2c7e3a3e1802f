-- Those whose calls are all back.
DELETE FROM call_rates
WHERE whole_at < CAST(extract(epoch FROM clock_timestamp()) * 1000000000 AS BIGINT)
