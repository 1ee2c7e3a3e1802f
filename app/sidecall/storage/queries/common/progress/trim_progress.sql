DELETE FROM call_progress
WHERE call_id = $1 AND attempt = $2 AND number <= $3
