SELECT number, listed
FROM approvals
WHERE number > $1 AND tenant = $4 AND (expires_at > $2 OR is_running = 1) {where}
ORDER BY number
LIMIT $3
