SELECT count(*), min(expires_at)
FROM approvals
WHERE status = 'pending' AND expires_at > $1
