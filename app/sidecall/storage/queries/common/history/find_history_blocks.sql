SELECT b.last_id, b.heads FROM history_blocks b {where}
