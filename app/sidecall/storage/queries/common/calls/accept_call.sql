INSERT INTO calls (
    id, tenant, caller, name, call_id, status, is_durable, attempt, owner, created_at, started_at,
    args, record, key, fingerprint, key_expires_at, replay_of, size, callback_url, callback_at
)
VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
ON CONFLICT DO NOTHING
RETURNING id
