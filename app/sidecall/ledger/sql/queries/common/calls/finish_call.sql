UPDATE calls SET status = $3, kind = $4, message = $5, ended_at = $6, size = size + $7, owner = NULL
WHERE id = $1 AND attempt = $2 AND status = 'running'
RETURNING id
