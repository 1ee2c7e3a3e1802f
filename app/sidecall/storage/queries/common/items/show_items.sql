-- Those of a list of numbers that still live at $1.
SELECT id, number, namespace, key, value, created_at, updated_at, ttl
FROM items
WHERE number IN ({where}) AND (expires_at IS NULL OR expires_at > $1)
ORDER BY created_at, number
