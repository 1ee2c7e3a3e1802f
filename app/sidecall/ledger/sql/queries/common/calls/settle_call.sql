UPDATE calls SET status = $2, kind = $3, message = $4, ended_at = $5, size = size + $6
WHERE id = $1 AND status = 'awaiting_approval'
RETURNING id
