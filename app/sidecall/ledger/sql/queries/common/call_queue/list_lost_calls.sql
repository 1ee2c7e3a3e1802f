SELECT id, name, attempt, record FROM calls
WHERE status = 'running' AND owner <> $2 AND owner NOT IN (SELECT id FROM servers WHERE seen_at > $1)
