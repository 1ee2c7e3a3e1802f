DELETE FROM approvals
WHERE expires_at <= $1 AND is_running = 0
