INSERT INTO vector_store_files
    (id, number, tenant, store, file, created_at, status, error, attributes, piece, overlap, size)
SELECT $1, CAST($2 AS BIGINT), $3, $4, $5, CAST($6 AS DOUBLE PRECISION), $7, $8, $9,
    CAST($10 AS BIGINT), CAST($11 AS BIGINT), CAST($12 AS BIGINT)
WHERE EXISTS (SELECT 1 FROM vector_stores WHERE id = $4 AND tenant = $3)
    AND EXISTS (SELECT 1 FROM files WHERE id = $5 AND tenant = $3)
    AND (SELECT coalesce(sum(size), 0) FROM files WHERE tenant = $3)
        + (SELECT coalesce(sum(size), 0) FROM vector_store_files WHERE tenant = $3)
        + CAST($12 AS BIGINT) <= CAST($13 AS BIGINT)
    AND (SELECT count(*) FROM vector_store_files WHERE tenant = $3) < CAST($14 AS BIGINT)
ON CONFLICT (id) DO NOTHING
RETURNING id
