-- Results that were cut, kept whole.

-- name: keep_content
INSERT INTO contents (id, tenant, caller, media_type, size, created_at, expires_at, body)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
RETURNING id

-- name: get_content
SELECT media_type, body
FROM contents
WHERE id = $1 AND expires_at > $2 AND tenant = $3 AND caller = $4

-- name: measure_contents
-- How many bytes of contents a caller keeps, and when the first of them expires.
SELECT CAST(coalesce(sum(size), 0) AS BIGINT), min(expires_at)
FROM contents
WHERE tenant = $1 AND caller = $2 AND expires_at > $3

-- name: forget_contents
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

-- name: forget_own_contents
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

-- name: remove_content
DELETE FROM contents
WHERE id = $1 AND expires_at > $2 AND tenant = $3 AND caller = $4
RETURNING id

-- name: take_content_back
-- Removes $1 again, where its caller's contents are more than $5 bytes with it.
DELETE FROM contents
WHERE id = $1
    AND (
        SELECT sum(size)
        FROM contents
        WHERE tenant = $2 AND caller = $3 AND expires_at > $4
    ) > CAST($5 AS BIGINT)
RETURNING id
