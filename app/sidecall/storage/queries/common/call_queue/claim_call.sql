UPDATE calls SET status = 'running', attempt = attempt + 1, owner = $2, started_at = $3
WHERE id = $1 AND status = 'queued'
RETURNING id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at, args, approval_id, replay_of, decision, message, record, is_unwanted
