INSERT INTO calls (
    id, tenant, caller, name, call_id, status, is_durable, attempt, owner, created_at, started_at,
    args, record, key, fingerprint, key_expires_at, replay_of, size, callback_url, callback_at
)
SELECT id, tenant, caller, name, call_id, status, 1, attempt, owner, created_at, started_at,
    args, record, key, fingerprint, key_expires_at, replay_of, size, callback_url, callback_at
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::integer[], $8::text[],
    $9::double precision[], $10::double precision[], $11::text[], $12::text[], $13::text[], $14::text[],
    $15::double precision[], $16::text[], $17::integer[], $18::text[], $19::double precision[]
) AS accepted (
    id, tenant, caller, name, call_id, status, attempt, owner, created_at, started_at,
    args, record, key, fingerprint, key_expires_at, replay_of, size, callback_url, callback_at
)
ON CONFLICT DO NOTHING
RETURNING id
