UPDATE calls SET status = 'awaiting_approval', owner = NULL, approval_id = $3
WHERE id = $1 AND attempt = $2 AND status = 'running'
RETURNING id, is_unwanted
