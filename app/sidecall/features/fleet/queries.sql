-- What the fleet asks of the servers that share a database.

-- name: fleet_end_server
UPDATE servers SET seen_at = 0 WHERE id = $1 AND seen_at < $2
RETURNING id
