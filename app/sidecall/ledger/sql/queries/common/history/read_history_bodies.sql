SELECT last_id, bodies FROM history_blocks {where}
