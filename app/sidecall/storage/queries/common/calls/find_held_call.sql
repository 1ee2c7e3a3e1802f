SELECT id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at, args, approval_id, replay_of, decision, message
FROM calls WHERE status IN ('queued', 'running', 'awaiting_approval') AND status = 'awaiting_approval' AND approval_id = $1
