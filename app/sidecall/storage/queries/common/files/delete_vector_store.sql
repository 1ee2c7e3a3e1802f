DELETE FROM vector_stores
WHERE id = $1 AND tenant = $2
RETURNING id
