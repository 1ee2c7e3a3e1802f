-- What another request puts there just now stays, unless it was given up long ago.
DELETE FROM vector_store_files
WHERE id = $1 AND tenant = $2 AND (status <> 'in_progress' OR created_at < $3)
RETURNING id
