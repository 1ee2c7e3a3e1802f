SELECT s.id, s.name, s.metadata, s.created_at,
    (SELECT count(*) FROM vector_store_files AS m WHERE m.store = s.id AND m.status = 'completed'),
    (SELECT count(*) FROM vector_store_files AS m WHERE m.store = s.id AND m.status = 'failed'),
    (SELECT count(*) FROM vector_store_files AS m WHERE m.store = s.id AND m.status = 'in_progress'),
    (SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM vector_store_files AS m WHERE m.store = s.id)
FROM vector_stores AS s
WHERE s.tenant = $1 {where}
LIMIT $2
