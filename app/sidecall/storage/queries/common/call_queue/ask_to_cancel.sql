UPDATE calls SET is_unwanted = 1
WHERE id = $1 AND status = 'running'
RETURNING id
