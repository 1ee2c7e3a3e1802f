DELETE FROM calls WHERE id = $1 AND attempt = $2 AND status = 'running'
RETURNING id, size
