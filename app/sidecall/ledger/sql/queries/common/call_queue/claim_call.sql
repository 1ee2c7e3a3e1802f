UPDATE calls SET status = 'running', attempt = attempt + 1, owner = $2, started_at = $3
WHERE id = $1 AND status = 'queued'
RETURNING id, attempt, record
