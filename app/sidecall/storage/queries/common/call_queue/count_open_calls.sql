SELECT count(*) FILTER (WHERE status = 'queued'), count(*) FILTER (WHERE status = 'running') FROM calls
WHERE status IN ('queued', 'running', 'awaiting_approval') AND status IN ('queued', 'running')
