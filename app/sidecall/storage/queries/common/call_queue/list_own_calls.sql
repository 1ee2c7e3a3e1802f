SELECT id FROM calls WHERE status IN ('queued', 'running', 'awaiting_approval') AND status = 'running' AND owner = $1
