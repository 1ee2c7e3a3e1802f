DELETE FROM approval_rules
WHERE expires_at <= $1
