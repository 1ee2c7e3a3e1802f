INSERT INTO call_progress (call_id, attempt, number, said, at)
VALUES ($1, $2, $3, $4, extract(epoch FROM clock_timestamp()))
ON CONFLICT DO NOTHING
RETURNING call_id
