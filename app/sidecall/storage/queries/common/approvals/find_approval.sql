SELECT record
FROM approvals
WHERE fingerprint = $1 AND (expires_at > $2 OR is_running = 1)
