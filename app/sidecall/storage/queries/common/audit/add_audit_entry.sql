INSERT INTO audit_entries (id, tenant, at, action, subject, target, details, count)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (id) DO NOTHING
RETURNING id
