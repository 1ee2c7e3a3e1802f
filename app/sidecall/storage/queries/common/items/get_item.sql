SELECT value, created_at, updated_at, ttl
FROM items
WHERE id = $1 AND (expires_at IS NULL OR expires_at > $2)
