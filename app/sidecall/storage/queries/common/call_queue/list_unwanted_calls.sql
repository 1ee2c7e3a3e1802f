SELECT id FROM calls WHERE status IN ('queued', 'running', 'awaiting_approval') AND status = 'running' AND is_unwanted = 1 AND owner = $1
