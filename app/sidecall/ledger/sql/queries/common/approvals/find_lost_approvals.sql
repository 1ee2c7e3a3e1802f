SELECT id, record
FROM approvals
WHERE is_running = 1 AND (owner IS NULL OR owner NOT IN (SELECT id FROM servers))
ORDER BY number
