UPDATE caller_secrets
SET key_id = $4, sealed = $5
WHERE name = $1 AND tenant = $2 AND caller = $3 AND sealed = $6
RETURNING name
