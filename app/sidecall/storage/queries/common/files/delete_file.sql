DELETE FROM files
WHERE id = $1 AND tenant = $2
RETURNING id
