UPDATE calls SET status = $2, kind = $3, message = $4, ended_at = $5
WHERE id = $1 AND status = 'queued'
RETURNING id
