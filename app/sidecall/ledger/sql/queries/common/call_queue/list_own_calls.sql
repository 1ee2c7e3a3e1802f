SELECT id FROM calls WHERE status = 'running' AND owner = $1
