UPDATE vector_store_files
SET status = 'failed', error = $3
WHERE status = $1 AND created_at < $2
