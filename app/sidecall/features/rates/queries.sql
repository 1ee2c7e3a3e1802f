-- How many calls a caller may make, counted by all servers of a PostgreSQL database.

-- name: lease_calls (postgres)
-- $1 whose calls, $2 nanoseconds in which one comes back, $3 how many there may be, $4 how many are wanted. The clock is
-- the database's, since those of servers differ.
INSERT INTO call_rates AS kept (key, whole_at, granted, spent)
SELECT $1, moment.now + CAST($2 AS BIGINT) * CAST($4 AS BIGINT), CAST($4 AS BIGINT),
    CAST($2 AS BIGINT) * CAST($4 AS BIGINT)
FROM (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000000 AS BIGINT) AS now) AS moment
ON CONFLICT (key) DO UPDATE SET (whole_at, granted, spent) = (
    SELECT moment.now + owed.spent + given.calls * CAST($2 AS BIGINT), given.calls,
        owed.spent + given.calls * CAST($2 AS BIGINT)
    FROM (SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000000 AS BIGINT) AS now) AS moment
    CROSS JOIN LATERAL (SELECT greatest(0, kept.whole_at - moment.now) AS spent) AS owed
    CROSS JOIN LATERAL (
        SELECT greatest(0, least(
            CAST($4 AS BIGINT), (CAST($2 AS BIGINT) * CAST($3 AS BIGINT) - owed.spent) / CAST($2 AS BIGINT)
        )) AS calls
    ) AS given
)
RETURNING key, granted, spent

-- name: forget_call_rates (postgres)
-- Those whose calls are all back.
DELETE FROM call_rates
WHERE whole_at < CAST(extract(epoch FROM clock_timestamp()) * 1000000000 AS BIGINT)
