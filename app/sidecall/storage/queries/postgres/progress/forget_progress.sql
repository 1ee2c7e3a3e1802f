DELETE FROM call_progress
WHERE at <= extract(epoch FROM clock_timestamp()) - CAST($1 AS DOUBLE PRECISION) AND NOT EXISTS (
    SELECT FROM calls WHERE id = call_id AND status IN ('queued', 'running', 'awaiting_approval')
)
