INSERT INTO vector_stores (id, tenant, name, metadata, created_at)
SELECT $1, $2, $3, $4, CAST($5 AS DOUBLE PRECISION)
WHERE (SELECT count(*) FROM vector_stores WHERE tenant = $2) < CAST($6 AS BIGINT)
RETURNING id
