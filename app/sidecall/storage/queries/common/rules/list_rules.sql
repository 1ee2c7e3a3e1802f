SELECT number, id, tenant, caller, tool, definition, decision, reason, decided_by, decided_at, expires_at, approval_id
FROM approval_rules
WHERE number > $1 AND tenant = $4 AND (expires_at IS NULL OR expires_at > $2)
ORDER BY number
LIMIT $3
