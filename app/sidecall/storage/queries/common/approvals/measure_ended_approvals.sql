-- Not what a remembered call waits for still.
SELECT count(*), coalesce(CAST(sum(size) AS BIGINT), 0)
FROM approvals
WHERE status <> 'pending'
    AND is_running = 0
    AND id NOT IN (
        SELECT approval_id FROM calls
        WHERE status IN ('queued', 'running', 'awaiting_approval')
            AND status = 'awaiting_approval' AND approval_id IS NOT NULL
    )
