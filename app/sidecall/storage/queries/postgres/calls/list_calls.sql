SELECT id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at,
    CASE WHEN octet_length(args) <= 2048 THEN args END, approval_id, replay_of, decision, NULL,
    CASE WHEN octet_length(args) > 2048 THEN octet_length(args) END
FROM calls {where}
