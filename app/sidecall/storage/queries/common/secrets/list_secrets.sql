SELECT name, created_at, updated_at
FROM caller_secrets
WHERE tenant = $1 AND caller = $2
ORDER BY name
