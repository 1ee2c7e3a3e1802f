-- Fairly between callers and between hosts, lest those of a receiver that is gone hold up all others: up to $3 of a host.
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
