-- Of a caller's contents the oldest, until $2 bytes of them are left at most.
DELETE FROM contents
WHERE number IN (
    SELECT number
    FROM (
        SELECT number, sum(size) OVER (ORDER BY number DESC) AS bytes
        FROM contents
        WHERE expires_at > $1 AND tenant = $3 AND caller = $4
    ) AS own
    WHERE bytes > CAST($2 AS BIGINT)
)
