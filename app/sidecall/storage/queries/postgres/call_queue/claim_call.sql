-- As in finish_call, each is found by its id.
UPDATE calls SET status = 'running', attempt = calls.attempt + 1, owner = claimed.owner, started_at = claimed.at
FROM unnest($1::text[], $2::text[], $3::double precision[]) AS claimed (id, owner, at)
WHERE calls.id = claimed.id AND calls.status || '' = 'queued'
RETURNING calls.id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at,
    args, approval_id, replay_of, decision, message, record, is_unwanted
