INSERT INTO call_progress (call_id, attempt, number, said, at)
VALUES ($1, $2, $3, $4, (julianday('now') - 2440587.5) * 86400.0)
ON CONFLICT DO NOTHING
RETURNING call_id
