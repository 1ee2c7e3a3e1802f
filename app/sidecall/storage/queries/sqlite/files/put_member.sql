INSERT INTO vector_store_files
    (id, number, tenant, store, file, created_at, status, error, attributes, piece, overlap, size)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
WHERE EXISTS (SELECT 1 FROM vector_stores WHERE id = $4 AND tenant = $3)
    AND EXISTS (SELECT 1 FROM files WHERE id = $5 AND tenant = $3)
    AND NOT EXISTS (SELECT 1 FROM file_room WHERE tenant = $3 AND (members >= $14 OR bytes + $12 > $13))
ON CONFLICT (id) DO NOTHING
RETURNING id
