SELECT record
FROM approvals
WHERE id = $1 AND (expires_at > $2 OR is_running = 1)
