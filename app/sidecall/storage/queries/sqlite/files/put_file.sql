INSERT INTO files (id, tenant, name, purpose, size, created_at, body)
SELECT $1, $2, $3, $4, $5, $6, $7
WHERE NOT EXISTS (SELECT 1 FROM file_room WHERE tenant = $2 AND (files >= $8 OR bytes + $5 > $9))
    AND $5 <= $9 AND $8 > 0
RETURNING id
