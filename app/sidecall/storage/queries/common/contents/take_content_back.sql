-- Removes $1 again, where its caller's contents are more than $5 bytes with it.
DELETE FROM contents
WHERE id = $1
    AND (
        SELECT sum(size)
        FROM contents
        WHERE tenant = $2 AND caller = $3 AND expires_at > $4
    ) > CAST($5 AS BIGINT)
RETURNING id
