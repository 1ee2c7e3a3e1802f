SELECT DISTINCT namespace
FROM items
WHERE tenant = $1
    AND namespace >= $2
    AND namespace < $3
    AND (expires_at IS NULL OR expires_at > $4)
