INSERT INTO contents (id, tenant, caller, media_type, size, created_at, expires_at, body)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
RETURNING id
