INSERT INTO calls (
    id, tenant, caller, name, call_id, status, kind, is_durable, attempt, created_at, started_at, ended_at,
    args, record, message, key, fingerprint, key_expires_at, free_at, replay_of, size, decision
)
SELECT id, tenant, caller, name, call_id, status, kind, 1, 1, created_at, started_at, ended_at,
    args, record, message, key, fingerprint, key_expires_at, free_at, replay_of, size, decision
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::double precision[], $9::double precision[], $10::double precision[], $11::text[], $12::text[], $13::text[],
    $14::text[], $15::text[], $16::double precision[], $17::double precision[], $18::text[], $19::integer[], $20::text[]
) AS recorded (
    id, tenant, caller, name, call_id, status, kind, created_at, started_at, ended_at,
    args, record, message, key, fingerprint, key_expires_at, free_at, replay_of, size, decision
)
ON CONFLICT DO NOTHING
RETURNING id
