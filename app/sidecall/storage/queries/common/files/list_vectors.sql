SELECT p.id, p.vector
FROM file_pieces AS p JOIN vector_store_files AS m ON m.number = p.member
WHERE m.tenant = $1 AND m.status = 'completed' AND p.vector IS NOT NULL AND p.id > $2 {where}
ORDER BY p.id
LIMIT $3
