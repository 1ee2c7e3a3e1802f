-- Calls that have ended, packed into blocks, and their counts by the hour and by the day.

-- name: add_history_counts
INSERT INTO history_counts (
    tenant, part, unit, period, value, span, errors, c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13,
    c14, c15, cost, last_id
)
VALUES (
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24,
    $25
)
ON CONFLICT (tenant, part, unit, period, value, span) DO UPDATE SET
    errors = history_counts.errors + excluded.errors, c0 = history_counts.c0 + excluded.c0,
    c1 = history_counts.c1 + excluded.c1, c2 = history_counts.c2 + excluded.c2,
    c3 = history_counts.c3 + excluded.c3, c4 = history_counts.c4 + excluded.c4,
    c5 = history_counts.c5 + excluded.c5, c6 = history_counts.c6 + excluded.c6,
    c7 = history_counts.c7 + excluded.c7, c8 = history_counts.c8 + excluded.c8,
    c9 = history_counts.c9 + excluded.c9, c10 = history_counts.c10 + excluded.c10,
    c11 = history_counts.c11 + excluded.c11, c12 = history_counts.c12 + excluded.c12,
    c13 = history_counts.c13 + excluded.c13, c14 = history_counts.c14 + excluded.c14,
    c15 = history_counts.c15 + excluded.c15, cost = history_counts.cost + excluded.cost,
    last_id = CASE WHEN excluded.last_id > history_counts.last_id
        THEN excluded.last_id ELSE history_counts.last_id END

-- name: add_history_conversation
INSERT INTO history_conversations (tenant, whose, id, first_at, last_at, calls, errors)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (tenant, whose, id) DO UPDATE SET
    first_at = CASE WHEN excluded.first_at < history_conversations.first_at
        THEN excluded.first_at ELSE history_conversations.first_at END,
    last_at = CASE WHEN excluded.last_at > history_conversations.last_at
        THEN excluded.last_at ELSE history_conversations.last_at END,
    calls = history_conversations.calls + excluded.calls, errors = history_conversations.errors + excluded.errors

-- name: find_surplus_conversation
SELECT last_at FROM history_conversations ORDER BY last_at DESC LIMIT 1 OFFSET $1

-- name: forget_history_conversations
DELETE FROM history_conversations WHERE last_at <= $1

-- name: get_history_conversation
SELECT first_at, last_at, calls, errors FROM history_conversations WHERE tenant = $1 AND whose = $2 AND id = $3

-- name: list_history_conversations
SELECT id, first_at, last_at, calls, errors
FROM history_conversations
WHERE tenant = $1 AND whose = $2 AND last_at >= $3
    AND (last_at, id) < (CAST($4 AS DOUBLE PRECISION), CAST($5 AS TEXT))
ORDER BY last_at DESC, id DESC
LIMIT $6

-- name: keep_history_block
INSERT INTO history_blocks (tenant, last_id, first_id, calls, size, heads, bodies)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING

-- name: mark_history_block
INSERT INTO history_marks (tenant, mark, last_id, bits0, bits1, bits2, bits3) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING

-- name: find_history_blocks
SELECT b.last_id, b.heads FROM history_blocks b {where}

-- name: find_marked_history_blocks
SELECT b.last_id, b.heads FROM history_marks m CROSS JOIN history_blocks b {where}

-- name: find_oldest_history_counts
SELECT MIN(period) FROM history_counts WHERE unit = $1

-- name: list_oldest_history
SELECT number, tenant, last_id, calls, size, heads FROM history_blocks ORDER BY number LIMIT $1

-- name: measure_history
SELECT CAST(coalesce(SUM(calls), 0) AS BIGINT), CAST(coalesce(SUM(size), 0) AS BIGINT) FROM history_blocks

-- name: read_history_bodies
WITH wanted (last_id, begin_at, size) AS (VALUES {where})
SELECT b.last_id, substr(b.bodies, w.begin_at, w.size)
FROM wanted w JOIN history_blocks b ON b.tenant = $1 AND b.last_id = w.last_id

-- name: read_history_counts
SELECT part, value, MIN(period), span,
    CAST(SUM(errors) AS BIGINT), CAST(SUM(c0) AS BIGINT), CAST(SUM(c1) AS BIGINT), CAST(SUM(c2) AS BIGINT),
    CAST(SUM(c3) AS BIGINT), CAST(SUM(c4) AS BIGINT), CAST(SUM(c5) AS BIGINT), CAST(SUM(c6) AS BIGINT),
    CAST(SUM(c7) AS BIGINT), CAST(SUM(c8) AS BIGINT), CAST(SUM(c9) AS BIGINT), CAST(SUM(c10) AS BIGINT),
    CAST(SUM(c11) AS BIGINT), CAST(SUM(c12) AS BIGINT), CAST(SUM(c13) AS BIGINT), CAST(SUM(c14) AS BIGINT),
    CAST(SUM(c15) AS BIGINT), CAST(SUM(cost) AS BIGINT), MAX(last_id)
FROM (
    SELECT * FROM history_counts
    WHERE tenant = $1 AND unit = 'day' AND period >= $2 AND period < $3 AND {where}
    UNION ALL
    SELECT * FROM history_counts
    WHERE tenant = $1 AND unit = 'hour' AND period >= $4 AND period < $5 AND {where}
    UNION ALL
    SELECT * FROM history_counts
    WHERE tenant = $1 AND unit = 'hour' AND period >= $6 AND period < $7 AND {where}
) AS counted
GROUP BY part, value, span, CASE WHEN CAST($8 AS INTEGER) = 1 THEN period END

-- name: forget_history_block
DELETE FROM history_blocks WHERE number = $1

-- name: forget_history_counts
DELETE FROM history_counts WHERE unit = $1 AND period = $2

-- name: forget_history_mark
DELETE FROM history_marks WHERE tenant = $1 AND mark = $2 AND last_id = $3
