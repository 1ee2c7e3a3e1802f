SELECT tenant, caller, name, key_id, sealed
FROM caller_secrets
WHERE key_id <> $1
ORDER BY number
LIMIT $2
