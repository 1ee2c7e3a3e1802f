-- It is used at $2, so it lives on for its time.
UPDATE items SET expires_at = $2 + ttl * 60
WHERE id = $1 AND ttl IS NOT NULL AND expires_at > $2
