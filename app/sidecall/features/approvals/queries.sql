-- Calls that wait for a person, and the rules by which later calls are decided.

-- name: ask_approval
INSERT INTO approvals (id, tenant, fingerprint, status, is_running, expires_at, size, listed, record)
SELECT $1, $2, $3, 'pending', 0, CAST($4 AS DOUBLE PRECISION), CAST($5 AS BIGINT), $6, $7
WHERE (SELECT count(*) FROM approvals WHERE status = 'pending' OR is_running = 1) < CAST($8 AS BIGINT)
    AND (SELECT coalesce(sum(size), 0) FROM approvals) + CAST($5 AS BIGINT) <= CAST($9 AS BIGINT)
ON CONFLICT (fingerprint) DO NOTHING
RETURNING id

-- name: count_approvals_by_conversation (sqlite)
SELECT json_extract(listed, '$.conversation_id') AS conversation_id, count(*)
FROM approvals
WHERE status = 'pending' AND tenant = $1 AND expires_at > $2
    AND ($3 IS NULL OR json_extract(listed, '$.requested_by') = $3)
GROUP BY 1

-- name: count_approvals_by_conversation (postgres)
-- Of JSON with a NUL in a text, PostgreSQL reads none.
SELECT shown ->> 'conversation_id', count(*)
FROM approvals
    CROSS JOIN LATERAL (SELECT CAST(replace(listed, '\u0000', '\u0001') AS json) AS shown) AS read
WHERE status = 'pending' AND tenant = $1 AND expires_at > $2
    AND (CAST($3 AS TEXT) IS NULL OR shown ->> 'requested_by' = CAST($3 AS TEXT))
GROUP BY 1

-- name: count_approvals
-- Those that wait or run, and the bytes of all.
SELECT
    CAST(coalesce(sum(CASE WHEN status = 'pending' OR is_running = 1 THEN 1 ELSE 0 END), 0) AS BIGINT),
    coalesce(CAST(sum(size) AS BIGINT), 0)
FROM approvals

-- name: count_waiting_approvals
SELECT count(*), min(expires_at), (
    SELECT listed FROM approvals WHERE status = 'pending' AND expires_at > $1 ORDER BY number LIMIT 1
)
FROM approvals
WHERE status = 'pending' AND expires_at > $1

-- name: find_approval
SELECT record
FROM approvals
WHERE fingerprint = $1 AND (expires_at > $2 OR is_running = 1)

-- name: find_decided_approval
-- Also one that has expired, as long as it is there.
SELECT record
FROM approvals
WHERE fingerprint = $1 AND status NOT IN ('pending', 'expired')

-- name: find_expired_approval
SELECT record
FROM approvals
WHERE id = $1 AND status = 'pending' AND expires_at <= $2

-- name: find_lost_approvals
SELECT id, record
FROM approvals
WHERE is_running = 1 AND (owner IS NULL OR owner NOT IN (SELECT id FROM servers WHERE seen_at > $1))
ORDER BY number

-- name: get_approval
SELECT record
FROM approvals
WHERE id = $1 AND tenant = coalesce($3, tenant) AND status <> 'expired' AND (expires_at > $2 OR is_running = 1)

-- name: get_expired_approval
-- Also one that is not marked so yet.
SELECT record
FROM approvals
WHERE id = $1
    AND tenant = coalesce($3, tenant)
    AND ((status = 'expired' AND expires_at > $2) OR (status = 'pending' AND expires_at <= $2))

-- name: get_decided_approval
-- Also one that has expired, as long as it is there.
SELECT record
FROM approvals
WHERE id = $1 AND status <> 'expired' AND (expires_at > $2 OR status <> 'pending')

-- name: get_own_approval
SELECT record
FROM approvals
WHERE id = $1 AND is_running = 1 AND owner = $2

-- name: list_approvals
SELECT number, listed
FROM approvals
WHERE tenant = $1 AND (expires_at > $2 OR is_running = 1) {where}

-- name: count_listed_approvals
SELECT count(*)
FROM approvals
WHERE tenant = $1 AND (expires_at > $2 OR is_running = 1) {where}

-- name: list_waiting_tools (sqlite)
SELECT json_extract(listed, '$.tool_call.name') AS tool, json_extract(listed, '$.tool_hash') AS hash, count(*)
FROM approvals
WHERE status = 'pending' AND expires_at > $1 AND json_extract(listed, '$.sign_in') IS NULL
GROUP BY 1, 2

-- name: list_waiting_tools (postgres)
SELECT shown #>> '{tool_call,name}', shown ->> 'tool_hash', count(*)
FROM approvals
    CROSS JOIN LATERAL (SELECT CAST(replace(listed, '\u0000', '\u0001') AS json) AS shown) AS read
WHERE status = 'pending' AND expires_at > $1 AND shown ->> 'sign_in' IS NULL
GROUP BY 1, 2

-- name: list_ended_approvals
SELECT number, id, size
FROM approvals
WHERE number > $1
    AND size > $2
    AND status <> 'pending'
    AND is_running = 0
    AND id NOT IN (
        SELECT approval_id FROM calls
        WHERE ended_at IS NULL
            AND status = 'awaiting_approval' AND approval_id IS NOT NULL
    )
ORDER BY number
LIMIT $3

-- name: list_expired_approvals
SELECT number, id, record
FROM approvals
WHERE expires_at <= $1 AND status = 'pending' AND number > $2
ORDER BY number
LIMIT $3

-- name: measure_ended_approvals
-- Not what a remembered call waits for still.
SELECT count(*), coalesce(CAST(sum(size) AS BIGINT), 0)
FROM approvals
WHERE status <> 'pending'
    AND is_running = 0
    AND id NOT IN (
        SELECT approval_id FROM calls
        WHERE ended_at IS NULL
            AND status = 'awaiting_approval' AND approval_id IS NOT NULL
    )

-- name: change_approval
-- Where it stands as it stood ($2, $3, and with $14 who runs it), and what it takes now fits; $9 is what always does.
UPDATE approvals
SET status = $4, is_running = $5, owner = $6, size = CAST($7 AS BIGINT), listed = $11, record = $12,
    expires_at = coalesce(CAST($13 AS DOUBLE PRECISION), expires_at)
WHERE id = $1
    AND status = $2
    AND is_running = $3
    AND (CAST($14 AS TEXT) IS NULL OR owner = CAST($14 AS TEXT))
    AND (expires_at > $10 OR is_running = 1)
    AND (
        CAST($7 AS BIGINT) <= size + CAST($9 AS BIGINT)
        OR (SELECT sum(size) FROM approvals) - size + CAST($7 AS BIGINT) <= CAST($8 AS BIGINT)
    )
RETURNING id

-- name: expire_approval
-- A decision at this moment comes before this, or finds nothing. The same call may be asked about anew.
UPDATE approvals
SET status = 'expired', fingerprint = 'expired ' || id, size = 0, listed = $3, record = $4,
    expires_at = expires_at + CAST($5 AS DOUBLE PRECISION)
WHERE id = $1 AND status = 'pending' AND expires_at <= $2
RETURNING id

-- name: drop_expired_approval
DELETE FROM approvals
WHERE id = $1 AND status = 'pending' AND expires_at <= $2
RETURNING id

-- name: forget_approvals
-- Not what was decided as long as a call waits for the answer: it would count as expired.
DELETE FROM approvals
WHERE expires_at <= $1
    AND is_running = 0
    AND (
        status = 'pending'
        OR id NOT IN (
            SELECT approval_id FROM calls
            WHERE ended_at IS NULL
                AND status = 'awaiting_approval' AND approval_id IS NOT NULL
        )
    )

-- name: forget_ended_approval
DELETE FROM approvals
WHERE id = $1
    AND status <> 'pending'
    AND is_running = 0
    AND id NOT IN (
        SELECT approval_id FROM calls
        WHERE ended_at IS NULL
            AND status = 'awaiting_approval' AND approval_id IS NOT NULL
    )
RETURNING id

-- name: keep_rule
-- One that takes the place of another needs no room.
INSERT INTO approval_rules
    (id, tenant, caller, tool, definition, decision, reason, decided_by, decided_at, expires_at, approval_id)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, CAST($9 AS DOUBLE PRECISION), CAST($10 AS DOUBLE PRECISION), $11
WHERE (SELECT count(*) FROM approval_rules WHERE NOT (tenant = $2 AND caller = $3 AND tool = $4))
    < CAST($12 AS BIGINT)
    AND (SELECT count(*) FROM approval_rules WHERE tenant = $2 AND NOT (caller = $3 AND tool = $4)) < CAST($13 AS BIGINT)
ON CONFLICT (tenant, caller, tool) DO UPDATE SET
    id = excluded.id,
    definition = excluded.definition,
    decision = excluded.decision,
    reason = excluded.reason,
    decided_by = excluded.decided_by,
    decided_at = excluded.decided_at,
    expires_at = excluded.expires_at,
    approval_id = excluded.approval_id
RETURNING id

-- name: find_rule
SELECT number, id, tenant, caller, tool, definition, decision, reason, decided_by, decided_at, expires_at, approval_id
FROM approval_rules
WHERE tenant = $1 AND caller = $2 AND tool = $3 AND definition = $4 AND (expires_at IS NULL OR expires_at > $5)

-- name: list_rules
SELECT number, id, tenant, caller, tool, definition, decision, reason, decided_by, decided_at, expires_at, approval_id
FROM approval_rules
WHERE number > $1 AND tenant = $4 AND (expires_at IS NULL OR expires_at > $2)
ORDER BY number
LIMIT $3

-- name: forget_rules
DELETE FROM approval_rules
WHERE expires_at <= $1

-- name: remove_rule
DELETE FROM approval_rules
WHERE id = $1 AND tenant = $3 AND (expires_at IS NULL OR expires_at > $2)
RETURNING id
