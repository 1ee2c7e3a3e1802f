DELETE FROM approvals
WHERE id = $1 AND status = 'pending' AND expires_at <= $2
RETURNING id
