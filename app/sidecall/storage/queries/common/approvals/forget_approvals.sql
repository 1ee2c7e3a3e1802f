-- Not what was decided as long as a call waits for the answer: it would count as expired.
DELETE FROM approvals
WHERE expires_at <= $1
    AND is_running = 0
    AND (
        status = 'pending'
        OR id NOT IN (
            SELECT approval_id FROM calls
            WHERE status IN ('queued', 'running', 'awaiting_approval')
                AND status = 'awaiting_approval' AND approval_id IS NOT NULL
        )
    )
