INSERT INTO servers (id, started_at, seen_at)
VALUES ($1, $2, $2)
ON CONFLICT (id) DO UPDATE SET seen_at = excluded.seen_at
RETURNING id
