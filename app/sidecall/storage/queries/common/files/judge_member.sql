SELECT (SELECT count(*) FROM vector_stores WHERE tenant = $1 AND id = $2),
    (SELECT count(*) FROM files WHERE tenant = $1 AND id = $3),
    (SELECT count(*) FROM vector_store_files WHERE tenant = $1),
    (SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM files WHERE tenant = $1),
    (SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM vector_store_files WHERE tenant = $1)
