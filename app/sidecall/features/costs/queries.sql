-- What calls have cost, by whose budget it is and in which time.

-- name: spend
-- $4 billionths, which may be less than 0 where something is given back.
INSERT INTO spending (key, begins_at, ends_at, spent) VALUES ($1, $2, $3, $4)
ON CONFLICT (key, begins_at) DO UPDATE SET spent = spending.spent + excluded.spent
RETURNING key, spent

-- name: spend_within
-- As far as $5 billionths are not used up, or would be exceeded.
INSERT INTO spending (key, begins_at, ends_at, spent)
SELECT $1, $2, CAST($3 AS BIGINT), CAST($4 AS BIGINT) WHERE CAST($4 AS BIGINT) <= CAST($5 AS BIGINT)
ON CONFLICT (key, begins_at) DO UPDATE SET spent = spending.spent + excluded.spent
WHERE spending.spent < CAST($5 AS BIGINT) AND spending.spent + excluded.spent <= CAST($5 AS BIGINT)
RETURNING key, spent

-- name: read_spending
SELECT spent FROM spending WHERE key = $1 AND begins_at = $2

-- name: forget_spending
DELETE FROM spending WHERE ends_at < $1
