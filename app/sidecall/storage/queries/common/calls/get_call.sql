SELECT id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at, args, approval_id, replay_of, decision, message
FROM calls WHERE id = $1 AND tenant = $2
