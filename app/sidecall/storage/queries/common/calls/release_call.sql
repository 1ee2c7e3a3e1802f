UPDATE calls SET status = 'queued', owner = NULL, started_at = NULL
WHERE id = $1 AND attempt = $2 AND status = 'running'
RETURNING id, is_unwanted
