SELECT id, record
FROM approvals
WHERE expires_at <= $1 AND status = 'pending'
