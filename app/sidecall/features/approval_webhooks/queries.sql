-- Messages about approvals. The migrations have what notes them.

-- name: tell_approval_receiver
-- It is told until a time.
INSERT INTO approval_receivers (id, notice, most, until)
VALUES ($1, CAST($2 AS DOUBLE PRECISION), CAST($3 AS BIGINT), CAST($4 AS DOUBLE PRECISION))
ON CONFLICT (id) DO UPDATE SET notice = excluded.notice, most = excluded.most, until = excluded.until
RETURNING id

-- name: count_approval_messages
SELECT count(*) FROM approval_messages WHERE receiver = $1

-- name: list_due_approval_messages
SELECT number, approval_id, receiver, due_at, tries
FROM approval_messages
WHERE receiver = $1 AND due_at <= $2
ORDER BY due_at, number
LIMIT $3

-- name: claim_approval_message
UPDATE approval_messages SET due_at = CAST($2 AS DOUBLE PRECISION), tries = tries + 1
WHERE number = $1 AND due_at = CAST($3 AS DOUBLE PRECISION)
RETURNING number, event, status, listed, at

-- name: repeat_approval_message
UPDATE approval_messages SET due_at = CAST($2 AS DOUBLE PRECISION)
WHERE number = $1 AND due_at = CAST($3 AS DOUBLE PRECISION)
RETURNING number

-- name: forget_approval_message
DELETE FROM approval_messages
WHERE number = $1 AND due_at = CAST($2 AS DOUBLE PRECISION)
RETURNING number
