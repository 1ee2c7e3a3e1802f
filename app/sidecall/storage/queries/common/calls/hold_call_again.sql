UPDATE calls SET decision = coalesce($3, decision), size = size + $4
WHERE id = $1 AND approval_id = $2 AND status = 'awaiting_approval'
RETURNING id, is_unwanted
