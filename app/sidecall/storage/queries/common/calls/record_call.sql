INSERT INTO calls (
    id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at,
    args, record, message, key, fingerprint, key_expires_at, free_at, replay_of, size, decision
)
VALUES ($1, $2, $3, $4, $5, $6, $7, 1, 1, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
ON CONFLICT DO NOTHING
RETURNING id
