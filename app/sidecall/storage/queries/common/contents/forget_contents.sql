-- What has expired ($1), and of the rest the oldest, until $2 bytes and $3 others are left at most.
DELETE FROM contents
WHERE expires_at <= $1
    OR number IN (
        SELECT number
        FROM (
            SELECT
                number,
                sum(size) OVER (ORDER BY number DESC) AS bytes,
                row_number() OVER (ORDER BY number DESC) AS place
            FROM contents
            WHERE expires_at > $1
        ) AS kept
        WHERE bytes > CAST($2 AS BIGINT) OR place > CAST($3 AS BIGINT)
    )
