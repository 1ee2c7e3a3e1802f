SELECT m.file, m.store, m.created_at, m.status, m.error, m.attributes, m.piece, m.overlap, m.size
FROM vector_store_files AS m
WHERE m.tenant = $1 AND m.store = $2 {where}
LIMIT $3
