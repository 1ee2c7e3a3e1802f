UPDATE calls SET is_unwanted = 1
WHERE id = $1 AND status = 'awaiting_approval'
RETURNING id
