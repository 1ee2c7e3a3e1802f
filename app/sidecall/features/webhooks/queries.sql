-- Calls that have ended, of which another server is to be informed.

-- name: list_due_callbacks (sqlite)
-- Fairly between callers and between hosts, so that a receiver that is gone holds up no others: up to $3 of a host.
SELECT id, tenant, callback_url, callback_at, callback_tries FROM (
    SELECT *, row_number() OVER (PARTITION BY tenant, caller ORDER BY place, callback_at, id) AS turn FROM (
        SELECT *, row_number() OVER (PARTITION BY host ORDER BY own, callback_at, id) AS place FROM (
            SELECT *, row_number() OVER (PARTITION BY tenant, caller, host ORDER BY callback_at, id) AS own FROM (
                SELECT id, tenant, caller, callback_url, callback_at, callback_tries,
                    lower(substr(rest, 1, instr(rest || '/', '/') - 1)) AS host
                FROM (
                    SELECT id, tenant, caller, callback_url, callback_at, callback_tries,
                        replace(substr(callback_url, instr(callback_url, '://') + 3), '?', '/') AS rest
                    FROM calls
                    WHERE callback_at IS NOT NULL AND callback_at <= $1 AND ended_at IS NOT NULL
                ) AS cut
            ) AS due
        ) AS owned
        WHERE own <= $3
    ) AS placed
    WHERE place <= $3
) AS turned
ORDER BY turn, callback_at, id LIMIT $2

-- name: list_due_callbacks (postgres)
-- Fairly between callers and between hosts, so that a receiver that is gone holds up no others: up to $3 of a host.
SELECT id, tenant, callback_url, callback_at, callback_tries FROM (
    SELECT *, row_number() OVER (PARTITION BY tenant, caller ORDER BY place, callback_at, id) AS turn FROM (
        SELECT *, row_number() OVER (PARTITION BY host ORDER BY own, callback_at, id) AS place FROM (
            SELECT *, row_number() OVER (PARTITION BY tenant, caller, host ORDER BY callback_at, id) AS own FROM (
                SELECT id, tenant, caller, callback_url, callback_at, callback_tries,
                    split_part(translate(lower(callback_url), '?', '/'), '/', 3) AS host
                FROM calls
                WHERE callback_at IS NOT NULL AND callback_at <= $1 AND ended_at IS NOT NULL
            ) AS due
        ) AS owned
        WHERE own <= $3
    ) AS placed
    WHERE place <= $3
) AS turned
ORDER BY turn, callback_at, id LIMIT $2

-- name: claim_callback
UPDATE calls SET callback_at = $2, callback_tries = callback_tries + 1
WHERE id = $1 AND callback_at = $3
RETURNING id

-- name: settle_callback
UPDATE calls SET callback_at = $2
WHERE id = $1 AND callback_at = $3
RETURNING id
