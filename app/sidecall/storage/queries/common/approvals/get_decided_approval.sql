-- Also one that has expired, as long as it is there.
SELECT record
FROM approvals
WHERE id = $1 AND status <> 'expired' AND (expires_at > $2 OR status <> 'pending')
