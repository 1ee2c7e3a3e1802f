DELETE FROM history_marks WHERE tenant = $1 AND mark = $2 AND last_id = $3
