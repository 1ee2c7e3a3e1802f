SELECT id FROM calls WHERE status = 'running' AND is_unwanted = 1 AND owner = $1
