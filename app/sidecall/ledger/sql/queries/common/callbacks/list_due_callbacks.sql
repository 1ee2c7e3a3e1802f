-- Fairly between callers, lest one whose receiver is gone holds up all others.
SELECT id, tenant, callback_url, callback_at, callback_tries FROM (
    SELECT id, tenant, callback_url, callback_at, callback_tries,
        row_number() OVER (PARTITION BY tenant, caller ORDER BY callback_at, id) AS turn
    FROM calls
    WHERE callback_at IS NOT NULL AND callback_at <= $1 AND ended_at IS NOT NULL
) AS due
ORDER BY turn, callback_at, id LIMIT $2
