INSERT INTO history_sums (tenant, part, hour, value, is_error, bucket, calls)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (tenant, part, hour, value, is_error, bucket) DO UPDATE SET calls = history_sums.calls + excluded.calls
