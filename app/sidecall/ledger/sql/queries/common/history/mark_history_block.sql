INSERT INTO history_marks (tenant, mark, last_id) VALUES ($1, $2, $3)
ON CONFLICT DO NOTHING
