INSERT INTO files (id, tenant, name, purpose, size, created_at, body)
SELECT $1, $2, $3, $4, CAST($5 AS BIGINT), CAST($6 AS DOUBLE PRECISION), $7
WHERE (SELECT count(*) FROM files WHERE tenant = $2) < CAST($8 AS BIGINT)
    AND (SELECT coalesce(sum(size), 0) FROM files WHERE tenant = $2)
        + (SELECT coalesce(sum(size), 0) FROM vector_store_files WHERE tenant = $2)
        + CAST($5 AS BIGINT) <= CAST($9 AS BIGINT)
RETURNING id
