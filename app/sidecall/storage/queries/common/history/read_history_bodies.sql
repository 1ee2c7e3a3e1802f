WITH wanted (last_id, begin_at, size) AS (VALUES {where})
SELECT b.last_id, substr(b.bodies, w.begin_at, w.size)
FROM wanted w JOIN history_blocks b ON b.tenant = $1 AND b.last_id = w.last_id
