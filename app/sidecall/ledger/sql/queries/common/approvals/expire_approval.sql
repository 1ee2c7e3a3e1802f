-- Whoever decides about it at this moment comes before this or finds nothing.
DELETE FROM approvals
WHERE id = $1 AND status = 'pending' AND expires_at <= $2
RETURNING id
