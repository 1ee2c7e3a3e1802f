SELECT id, name, attempt, record FROM calls
WHERE id = $1 AND status = 'running' AND owner = $2
