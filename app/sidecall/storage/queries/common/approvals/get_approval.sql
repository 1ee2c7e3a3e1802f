SELECT record
FROM approvals
WHERE id = $1 AND tenant = coalesce($3, tenant) AND status <> 'expired' AND (expires_at > $2 OR is_running = 1)
