SELECT b.last_id, b.heads FROM history_marks m CROSS JOIN history_blocks b {where}
