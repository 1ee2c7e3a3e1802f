SELECT body
FROM files
WHERE id = $1 AND tenant = $2
