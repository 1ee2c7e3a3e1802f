DELETE FROM call_progress
WHERE at <= (julianday('now') - 2440587.5) * 86400.0 - $1 AND NOT EXISTS (
    SELECT 1 FROM calls WHERE id = call_id AND status IN ('queued', 'running', 'awaiting_approval')
)
