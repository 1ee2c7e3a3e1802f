SELECT record
FROM approvals
WHERE id = $1 AND is_running = 1 AND owner = $2
