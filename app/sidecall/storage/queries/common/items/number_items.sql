-- The order of what search_items finds, without what it holds: to sort that anew for each page would take ever longer.
SELECT number, created_at
FROM items
WHERE tenant = $1
    AND namespace >= $2
    AND namespace < $3
    AND (expires_at IS NULL OR expires_at > $4)
    AND (created_at, number) > ($5, $6)
ORDER BY created_at, number
LIMIT $7
