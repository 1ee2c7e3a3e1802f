UPDATE calls SET callback_at = $2, callback_tries = callback_tries + 1
WHERE id = $1 AND callback_at = $3
RETURNING id
