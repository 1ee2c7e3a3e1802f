-- What tools remember from call to call.

-- name: put_item
-- One that has expired, and was not removed yet, begins anew.
INSERT INTO items (id, tenant, namespace, key, value, created_at, updated_at, ttl, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $6, $7, $8)
ON CONFLICT (id) DO UPDATE SET
    value = excluded.value,
    created_at = CASE
        WHEN items.expires_at <= excluded.updated_at THEN excluded.created_at
        ELSE items.created_at
    END,
    updated_at = excluded.updated_at,
    ttl = excluded.ttl,
    expires_at = excluded.expires_at
RETURNING id

-- name: get_item
SELECT value, created_at, updated_at, ttl
FROM items
WHERE id = $1 AND (expires_at IS NULL OR expires_at > $2)

-- name: list_namespaces
SELECT DISTINCT namespace
FROM items
WHERE tenant = $1
    AND namespace >= $2
    AND namespace < $3
    AND (expires_at IS NULL OR expires_at > $4)

-- name: number_items
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

-- name: search_items
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

-- name: show_items
-- Those of a list of numbers that still live at $1.
SELECT id, number, namespace, key, value, created_at, updated_at, ttl
FROM items
WHERE number IN ({where}) AND (expires_at IS NULL OR expires_at > $1)
ORDER BY created_at, number

-- name: refresh_item
-- It is used at $2, so it lives on for its time.
UPDATE items SET expires_at = $2 + ttl * 60
WHERE id = $1 AND ttl IS NOT NULL AND expires_at > $2

-- name: delete_item
DELETE FROM items WHERE id = $1

-- name: forget_items
DELETE FROM items WHERE expires_at <= $1
