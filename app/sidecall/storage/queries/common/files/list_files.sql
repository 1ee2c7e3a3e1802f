SELECT id, name, purpose, size, created_at
FROM files
WHERE tenant = $1 {where}
LIMIT $2
