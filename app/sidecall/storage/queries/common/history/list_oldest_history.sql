SELECT number, tenant, last_id, calls, size, heads FROM history_blocks ORDER BY number LIMIT $1
