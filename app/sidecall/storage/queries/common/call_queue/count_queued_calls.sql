SELECT count(*) FROM calls WHERE status IN ('queued', 'running', 'awaiting_approval') AND status = 'queued'
