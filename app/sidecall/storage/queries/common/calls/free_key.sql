-- One that has not ended keeps its key, however long that takes.
UPDATE calls SET key = NULL, fingerprint = NULL
WHERE id = $1 AND ended_at IS NOT NULL AND key_expires_at <= $2
RETURNING id
