SELECT id, record
FROM approvals
WHERE is_running = 1 AND (owner IS NULL OR owner NOT IN (SELECT id FROM servers WHERE seen_at > $1))
ORDER BY number
