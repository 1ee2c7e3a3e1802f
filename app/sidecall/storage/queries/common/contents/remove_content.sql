DELETE FROM contents
WHERE id = $1 AND expires_at > $2 AND tenant = $3 AND caller = $4
RETURNING id
