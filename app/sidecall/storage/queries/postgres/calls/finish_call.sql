-- The time of a key begins anew with the end: its call may have waited or run for longer than that.
-- The status is no plain column here, lest the calls that run are read as a list: each is found by its id.
UPDATE calls SET status = ended.status, kind = ended.kind, message = ended.message, ended_at = ended.at,
    size = calls.size + ended.size, decision = ended.decision, owner = NULL,
    key_expires_at = calls.key_expires_at + ended.at - calls.created_at,
    free_at = greatest(calls.key_expires_at + ended.at - calls.created_at, ended.free_at)
FROM unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::double precision[], $7::integer[],
    $8::double precision[], $9::text[]
) AS ended (id, attempt, status, kind, message, at, size, free_at, decision)
WHERE calls.id = ended.id AND calls.attempt = ended.attempt AND calls.status || '' = 'running'
RETURNING calls.id
