UPDATE vector_store_files
SET status = 'completed'
WHERE id = $1 AND number = $2
RETURNING id
