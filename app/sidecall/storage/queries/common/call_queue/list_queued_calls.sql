SELECT id, tenant, caller, turn, name, created_at FROM (
    SELECT id, tenant, caller, name, created_at, row_number() OVER (PARTITION BY tenant, caller ORDER BY id) AS turn
    FROM calls WHERE status IN ('queued', 'running', 'awaiting_approval') AND status = 'queued'
) AS queued
WHERE turn <= $1
ORDER BY turn, id LIMIT 1000
