-- Calls that are remembered, the queue of those that wait or run, and what they say while they run.

-- name: accept_call (sqlite)
INSERT INTO calls (
    id, tenant, caller, name, call_id, status, is_durable, attempt, owner, created_at, started_at,
    args, record, key, fingerprint, key_expires_at, replay_of, size, callback_url, callback_at,
    conversation_id, trace_id, request_id
)
VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
ON CONFLICT DO NOTHING
RETURNING id

-- name: accept_call (postgres)
INSERT INTO calls (
    id, tenant, caller, name, call_id, status, is_durable, attempt, owner, created_at, started_at,
    args, record, key, fingerprint, key_expires_at, replay_of, size, callback_url, callback_at,
    conversation_id, trace_id, request_id
)
SELECT id, tenant, caller, name, call_id, status, 1, attempt, owner, created_at, started_at,
    args, record, key, fingerprint, key_expires_at, replay_of, size, callback_url, callback_at,
    conversation_id, trace_id, request_id
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::integer[], $8::text[],
    $9::double precision[], $10::double precision[], $11::text[], $12::text[], $13::text[], $14::text[],
    $15::double precision[], $16::text[], $17::integer[], $18::text[], $19::double precision[], $20::text[], $21::text[], $22::text[]
) AS accepted (
    id, tenant, caller, name, call_id, status, attempt, owner, created_at, started_at,
    args, record, key, fingerprint, key_expires_at, replay_of, size, callback_url, callback_at,
    conversation_id, trace_id, request_id
)
ON CONFLICT DO NOTHING
RETURNING id

-- name: record_call (sqlite)
INSERT INTO calls (
    id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at,
    args, record, message, key, fingerprint, key_expires_at, free_at, replay_of, size, decision, cost, waited, attempts,
    conversation_id, trace_id, request_id
)
VALUES ($1, $2, $3, $4, $5, $6, $7, 1, 1, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26)
ON CONFLICT DO NOTHING
RETURNING id

-- name: record_call (postgres)
INSERT INTO calls (
    id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at,
    args, record, message, key, fingerprint, key_expires_at, free_at, replay_of, size, decision, cost, waited, attempts,
    conversation_id, trace_id, request_id
)
SELECT id, tenant, caller, name, call_id, status, kind, 1, 1, created_at, started_at, ended_at,
    args, record, message, key, fingerprint, key_expires_at, free_at, replay_of, size, decision, cost, waited, attempts,
    conversation_id, trace_id, request_id
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::double precision[], $9::double precision[], $10::double precision[], $11::text[], $12::text[], $13::text[],
    $14::text[], $15::text[], $16::double precision[], $17::double precision[], $18::text[], $19::integer[], $20::text[],
    $21::bigint[], $22::double precision[], $23::integer[], $24::text[], $25::text[], $26::text[]
) AS recorded (
    id, tenant, caller, name, call_id, status, kind, created_at, started_at, ended_at,
    args, record, message, key, fingerprint, key_expires_at, free_at, replay_of, size, decision, cost, waited, attempts,
    conversation_id, trace_id, request_id
)
ON CONFLICT DO NOTHING
RETURNING id

-- name: find_suspended_call
SELECT id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at, args, approval_id, replay_of, conversation_id, trace_id, request_id, decision, cost, waited, attempts, message
FROM calls WHERE ended_at IS NULL AND status = 'awaiting_approval' AND approval_id = $1

-- name: find_key
SELECT id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at, args, approval_id, replay_of, conversation_id, trace_id, request_id, decision, cost, waited, attempts, message, fingerprint, key_expires_at
FROM calls WHERE key = $1

-- name: get_call
SELECT id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at, args, approval_id, replay_of, conversation_id, trace_id, request_id, decision, cost, waited, attempts, message
FROM calls WHERE id = $1 AND tenant = $2

-- name: get_call_record
SELECT record FROM calls WHERE id = $1

-- name: list_calls (sqlite)
SELECT id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at,
    CASE WHEN length(args) <= 2048 THEN args END, approval_id, replay_of, conversation_id, trace_id, request_id, decision, cost, waited, attempts, NULL,
    CASE WHEN length(args) > 2048 THEN length(args) END
FROM calls {where}

-- name: list_calls (postgres)
SELECT id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at,
    CASE WHEN octet_length(args) <= 2048 THEN args END, approval_id, replay_of, conversation_id, trace_id, request_id, decision, cost, waited, attempts, NULL,
    CASE WHEN octet_length(args) > 2048 THEN octet_length(args) END
FROM calls {where}

-- name: list_forgettable_calls
-- Ended calls that nobody is to find by a key or an approval any more; until $3 those stay of which a receiver is to be informed.
SELECT id, size FROM calls
WHERE free_at <= $1 AND ended_at <= $2 AND (callback_at IS NULL OR ended_at <= $3)
ORDER BY free_at LIMIT $4

-- name: find_aged_calls (sqlite)
-- The same ones, as their ids in JSON, how many they are, and their bytes: what reads them one by one takes longer.
SELECT json_group_array(id), count(*), coalesce(sum(size), 0) FROM (
    SELECT id, size FROM calls
    WHERE free_at <= $1 AND ended_at <= $2 AND (callback_at IS NULL OR ended_at <= $3)
    ORDER BY free_at LIMIT $4
)

-- name: find_aged_calls (postgres)
SELECT CAST(coalesce(json_agg(id), '[]') AS TEXT), count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM (
    SELECT id, size FROM calls
    WHERE free_at <= $1 AND ended_at <= $2 AND (callback_at IS NULL OR ended_at <= $3)
    ORDER BY free_at LIMIT $4
) AS aged

-- name: list_held_calls
SELECT id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at, args, approval_id, replay_of, conversation_id, trace_id, request_id, decision, cost, waited, attempts, message
FROM calls WHERE ended_at IS NULL AND status = 'awaiting_approval' ORDER BY id LIMIT $1

-- name: list_whole_calls
SELECT id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at,
    CASE WHEN size <= 8192 THEN args END, approval_id, replay_of, conversation_id, trace_id, request_id, decision, cost, waited, attempts,
    CASE WHEN size <= 8192 THEN message END, CASE WHEN size > 8192 THEN size END
FROM calls {where}

-- name: measure_calls
SELECT count(*), CAST(coalesce(sum(size), 0) AS BIGINT) FROM (
    SELECT size FROM calls WHERE free_at IS NOT NULL
    UNION ALL
    SELECT size FROM calls WHERE ended_at IS NULL AND status IN ('queued', 'running', 'awaiting_approval')
) AS kept

-- name: read_call_args
SELECT id, args, NULL FROM calls {where}

-- name: read_call_texts
SELECT id, args, message FROM calls {where}

-- name: finish_call (sqlite)
-- The time of a key begins anew with the end: its call may have waited or run for longer than that.
UPDATE calls SET status = $3, kind = $4, message = $5, ended_at = $6, size = size + $7, decision = $9, cost = $10, owner = NULL,
    waited = $12, attempts = $13, trace_id = coalesce($11, trace_id), key_expires_at = key_expires_at + CAST($6 AS DOUBLE PRECISION) - created_at,
    free_at = CASE WHEN key_expires_at + CAST($6 AS DOUBLE PRECISION) - created_at > CAST($8 AS DOUBLE PRECISION)
        THEN key_expires_at + CAST($6 AS DOUBLE PRECISION) - created_at ELSE CAST($8 AS DOUBLE PRECISION) END
WHERE id = $1 AND attempt = $2 AND status = 'running'
RETURNING id

-- name: finish_call (postgres)
-- The time of a key begins anew with the end: its call may have waited or run for longer than that.
-- The status is no plain column here: else PostgreSQL would read the list of running calls. Each is found by its id.
UPDATE calls SET status = ended.status, kind = ended.kind, message = ended.message, ended_at = ended.at,
    size = calls.size + ended.size, decision = ended.decision, cost = ended.cost, owner = NULL,
    waited = ended.waited, attempts = ended.attempts,
    trace_id = coalesce(ended.trace_id, calls.trace_id), key_expires_at = calls.key_expires_at + ended.at - calls.created_at,
    free_at = greatest(calls.key_expires_at + ended.at - calls.created_at, ended.free_at)
FROM unnest($1::text[], $2::integer[], $3::text[], $4::text[], $5::text[], $6::double precision[], $7::integer[],
    $8::double precision[], $9::text[], $10::bigint[], $11::text[], $12::double precision[], $13::integer[]
) AS ended (id, attempt, status, kind, message, at, size, free_at, decision, cost, trace_id, waited, attempts)
WHERE calls.id = ended.id AND calls.attempt = ended.attempt AND calls.status || '' = 'running'
RETURNING calls.id

-- name: free_key
-- One that has not ended keeps its key, however long that takes.
UPDATE calls SET key = NULL, fingerprint = NULL
WHERE id = $1 AND ended_at IS NOT NULL AND key_expires_at <= $2
RETURNING id

-- name: hold_call
UPDATE calls SET status = 'awaiting_approval', owner = NULL, approval_id = $3
WHERE id = $1 AND attempt = $2 AND status = 'running'
RETURNING id, is_unwanted

-- name: hold_call_again
UPDATE calls SET decision = coalesce($3, decision), size = size + $4
WHERE id = $1 AND approval_id = $2 AND status = 'awaiting_approval'
RETURNING id, is_unwanted

-- name: release_call
UPDATE calls SET status = 'queued', owner = NULL, started_at = NULL
WHERE id = $1 AND attempt = $2 AND status = 'running'
RETURNING id, is_unwanted

-- name: settle_call
-- The time of a key begins anew with the end: its call may have waited or run for longer than that.
UPDATE calls SET status = $2, kind = $3, message = $4, ended_at = $5, size = size + $6, decision = coalesce($9, decision), cost = $10,
    started_at = CASE WHEN CAST($8 AS INTEGER) = 1 THEN NULL ELSE started_at END,
    key_expires_at = key_expires_at + CAST($5 AS DOUBLE PRECISION) - created_at,
    free_at = CASE WHEN key_expires_at + CAST($5 AS DOUBLE PRECISION) - created_at > CAST($7 AS DOUBLE PRECISION)
        THEN key_expires_at + CAST($5 AS DOUBLE PRECISION) - created_at ELSE CAST($7 AS DOUBLE PRECISION) END
WHERE id = $1 AND status = 'awaiting_approval'
RETURNING id

-- name: forget_call
DELETE FROM calls WHERE id = $1 AND attempt = $2 AND status = 'running'
RETURNING id, size

-- name: forget_ended_calls (sqlite)
-- All at once: a statement for each call would open the table and its indexes for each.
DELETE FROM calls WHERE id IN (SELECT value FROM json_each($1)) AND free_at <= $2

-- name: forget_ended_calls (postgres)
DELETE FROM calls WHERE id IN (SELECT json_array_elements_text(CAST($1 AS json))) AND free_at <= $2

-- name: count_open_calls
SELECT count(*) FILTER (WHERE status = 'queued'), count(*) FILTER (WHERE status = 'running') FROM calls
WHERE ended_at IS NULL AND status IN ('queued', 'running')

-- name: count_queued_calls
SELECT count(*) FROM calls WHERE ended_at IS NULL AND status = 'queued'

-- name: get_own_call
SELECT id, name, attempt, record FROM calls
WHERE id = $1 AND status = 'running' AND owner = $2

-- name: list_lost_calls
SELECT id, name, attempt, record FROM calls
WHERE ended_at IS NULL
    AND status = 'running' AND owner <> $2 AND owner NOT IN (SELECT id FROM servers WHERE seen_at > $1)

-- name: list_own_calls
SELECT id FROM calls WHERE ended_at IS NULL AND status = 'running' AND owner = $1

-- name: list_queued_calls
SELECT id, tenant, caller, turn, name, created_at FROM (
    SELECT id, tenant, caller, name, created_at, row_number() OVER (PARTITION BY tenant, caller ORDER BY id) AS turn
    FROM calls WHERE ended_at IS NULL AND status = 'queued'
) AS queued
WHERE turn <= $1
ORDER BY turn, id LIMIT 1000

-- name: list_unwanted_calls
SELECT id FROM calls WHERE ended_at IS NULL AND status = 'running' AND is_unwanted = 1 AND owner = $1

-- name: list_unwanted_held_calls
SELECT id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at, args, approval_id, replay_of, conversation_id, trace_id, request_id, decision, cost, waited, attempts, message
FROM calls WHERE ended_at IS NULL AND status = 'awaiting_approval' AND is_unwanted = 1 ORDER BY id LIMIT $1

-- name: ask_to_cancel
UPDATE calls SET is_unwanted = 1
WHERE id = $1 AND status = 'running'
RETURNING id

-- name: ask_to_cancel_held
UPDATE calls SET is_unwanted = 1
WHERE id = $1 AND status = 'awaiting_approval'
RETURNING id

-- name: cancel_queued_call
-- The time of a key begins anew with the end: its call may have waited or run for longer than that.
UPDATE calls SET status = $2, kind = $3, message = $4, ended_at = $5, size = size + $6,
    key_expires_at = key_expires_at + CAST($5 AS DOUBLE PRECISION) - created_at,
    free_at = CASE WHEN key_expires_at + CAST($5 AS DOUBLE PRECISION) - created_at > CAST($7 AS DOUBLE PRECISION)
        THEN key_expires_at + CAST($5 AS DOUBLE PRECISION) - created_at ELSE CAST($7 AS DOUBLE PRECISION) END
WHERE id = $1 AND status = 'queued'
RETURNING id

-- name: claim_call (sqlite)
UPDATE calls SET status = 'running', attempt = attempt + 1, owner = $2, started_at = $3
WHERE id = $1 AND status = 'queued'
RETURNING id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at, args, approval_id, replay_of, conversation_id, trace_id, request_id, decision, cost, waited, attempts, message, record, is_unwanted

-- name: claim_call (postgres)
-- As in finish_call, each is found by its id.
UPDATE calls SET status = 'running', attempt = calls.attempt + 1, owner = claimed.owner, started_at = claimed.at
FROM unnest($1::text[], $2::text[], $3::double precision[]) AS claimed (id, owner, at)
WHERE calls.id = claimed.id AND calls.status || '' = 'queued'
RETURNING calls.id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at,
    args, approval_id, replay_of, conversation_id, trace_id, request_id, decision, cost, waited, attempts, message, record, is_unwanted

-- name: add_progress (sqlite)
INSERT INTO call_progress (call_id, attempt, number, said, at)
VALUES ($1, $2, $3, $4, (julianday('now') - 2440587.5) * 86400.0)
ON CONFLICT DO NOTHING
RETURNING call_id

-- name: add_progress (postgres)
INSERT INTO call_progress (call_id, attempt, number, said, at)
VALUES ($1, $2, $3, $4, extract(epoch FROM clock_timestamp()))
ON CONFLICT DO NOTHING
RETURNING call_id

-- name: list_progress
SELECT attempt, number, said FROM call_progress
WHERE call_id = $1 AND (attempt, number) > ($2, $3)
ORDER BY attempt, number

-- name: forget_progress (sqlite)
DELETE FROM call_progress
WHERE at <= (julianday('now') - 2440587.5) * 86400.0 - $1 AND NOT EXISTS (
    SELECT 1 FROM calls WHERE id = call_progress.call_id AND status IN ('queued', 'running', 'awaiting_approval')
)

-- name: forget_progress (postgres)
DELETE FROM call_progress
WHERE at <= extract(epoch FROM clock_timestamp()) - CAST($1 AS DOUBLE PRECISION) AND NOT EXISTS (
    SELECT FROM calls WHERE id = call_progress.call_id AND status IN ('queued', 'running', 'awaiting_approval')
)

-- name: trim_progress
DELETE FROM call_progress
WHERE call_id = $1 AND attempt = $2 AND number <= $3
