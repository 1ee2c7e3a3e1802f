WITH forgotten AS (DELETE FROM call_progress WHERE call_id = $1 AND attempt = $2 AND number <= $5)
INSERT INTO call_progress (call_id, attempt, number, said, at)
VALUES ($1, $2, $3, $4, extract(epoch FROM clock_timestamp()))
ON CONFLICT DO NOTHING
RETURNING call_id
