-- Whoever decides about it at this moment comes before this or finds nothing. The same call may be asked about anew.
UPDATE approvals
SET status = 'expired', fingerprint = 'expired ' || id, size = 0, listed = $3, record = $4,
    expires_at = expires_at + CAST($5 AS DOUBLE PRECISION)
WHERE id = $1 AND status = 'pending' AND expires_at <= $2
RETURNING id
