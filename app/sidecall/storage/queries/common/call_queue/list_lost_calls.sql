SELECT id, name, attempt, record FROM calls
WHERE status IN ('queued', 'running', 'awaiting_approval')
    AND status = 'running' AND owner <> $2 AND owner NOT IN (SELECT id FROM servers WHERE seen_at > $1)
