-- One that takes the place of another needs no room.
INSERT INTO approval_rules
    (id, tenant, caller, tool, definition, decision, reason, decided_by, decided_at, expires_at, approval_id)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, CAST($9 AS DOUBLE PRECISION), CAST($10 AS DOUBLE PRECISION), $11
WHERE (SELECT count(*) FROM approval_rules WHERE NOT (tenant = $2 AND caller = $3 AND tool = $4))
    < CAST($12 AS BIGINT)
    AND (SELECT count(*) FROM approval_rules WHERE tenant = $2 AND NOT (caller = $3 AND tool = $4)) < CAST($13 AS BIGINT)
ON CONFLICT (tenant, caller, tool) DO UPDATE SET
    id = excluded.id,
    definition = excluded.definition,
    decision = excluded.decision,
    reason = excluded.reason,
    decided_by = excluded.decided_by,
    decided_at = excluded.decided_at,
    expires_at = excluded.expires_at,
    approval_id = excluded.approval_id
RETURNING id
