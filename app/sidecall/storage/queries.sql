-- Processes that use this database.

-- name: register_server
INSERT INTO servers (id, started_at, seen_at)
VALUES ($1, $2, $2)
ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at
RETURNING id

-- name: count_other_servers
SELECT count(*) FROM servers WHERE seen_at > $1 AND id <> $2

-- name: find_servers
SELECT id, started_at, seen_at
FROM servers
{where}
ORDER BY started_at, id

-- name: tell_time (sqlite)
SELECT (julianday('now') - 2440587.5) * 86400.0

-- name: tell_time (postgres)
SELECT CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)

-- name: forget_server
DELETE FROM servers
WHERE id = $1
RETURNING id

-- name: forget_servers
DELETE FROM servers
WHERE seen_at <= $1
