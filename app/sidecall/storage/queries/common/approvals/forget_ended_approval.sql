DELETE FROM approvals
WHERE id = $1
    AND status <> 'pending'
    AND is_running = 0
    AND id NOT IN (
        SELECT approval_id FROM calls
        WHERE status IN ('queued', 'running', 'awaiting_approval')
            AND status = 'awaiting_approval' AND approval_id IS NOT NULL
    )
RETURNING id
