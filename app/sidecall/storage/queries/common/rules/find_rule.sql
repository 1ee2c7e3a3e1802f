SELECT number, id, tenant, caller, tool, definition, decision, reason, decided_by, decided_at, expires_at, approval_id
FROM approval_rules
WHERE tenant = $1 AND caller = $2 AND tool = $3 AND definition = $4 AND (expires_at IS NULL OR expires_at > $5)
