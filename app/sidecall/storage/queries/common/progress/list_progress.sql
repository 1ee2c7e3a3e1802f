SELECT attempt, number, said FROM call_progress
WHERE call_id = $1 AND (attempt, number) > ($2, $3)
ORDER BY attempt, number
