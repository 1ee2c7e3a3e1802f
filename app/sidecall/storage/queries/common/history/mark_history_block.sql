INSERT INTO history_marks (tenant, mark, last_id, bits0, bits1, bits2, bits3) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT DO NOTHING
