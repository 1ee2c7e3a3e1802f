DELETE FROM approval_rules
WHERE id = $1 AND tenant = $3 AND (expires_at IS NULL OR expires_at > $2)
RETURNING id
