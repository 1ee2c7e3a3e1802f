-- What lives at $4 in the namespaces between $2 and $3, after the one made at $5 with the number $6.
SELECT id, number, namespace, key, value, created_at, updated_at, ttl
FROM items
WHERE tenant = $1
    AND namespace >= $2
    AND namespace < $3
    AND (expires_at IS NULL OR expires_at > $4)
    AND (created_at, number) > ($5, $6)
ORDER BY created_at, number
LIMIT $7 OFFSET $8
