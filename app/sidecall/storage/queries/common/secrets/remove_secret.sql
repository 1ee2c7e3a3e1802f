DELETE FROM caller_secrets
WHERE name = $1 AND tenant = $2 AND caller = $3
RETURNING name
