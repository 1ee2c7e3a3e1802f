INSERT INTO history_blocks (tenant, last_id, first_id, calls, size, heads, bodies)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING
