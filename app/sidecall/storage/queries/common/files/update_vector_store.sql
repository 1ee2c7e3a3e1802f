UPDATE vector_stores
SET name = coalesce($3, name), metadata = coalesce($4, metadata)
WHERE id = $1 AND tenant = $2
RETURNING id
