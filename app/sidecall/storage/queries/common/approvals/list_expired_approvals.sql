SELECT number, id, record
FROM approvals
WHERE expires_at <= $1 AND status = 'pending' AND number > $2
ORDER BY number
LIMIT $3
