UPDATE calls SET key = NULL, fingerprint = NULL
WHERE id = $1 AND key_expires_at <= $2
RETURNING id
