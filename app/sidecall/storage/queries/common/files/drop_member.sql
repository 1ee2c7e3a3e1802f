DELETE FROM vector_store_files
WHERE id = $1 AND number = $2
RETURNING id
