SELECT id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at,
    CASE WHEN size <= 8192 THEN args END, approval_id, replay_of, decision,
    CASE WHEN size <= 8192 THEN message END, CASE WHEN size > 8192 THEN size END
FROM calls {where}
