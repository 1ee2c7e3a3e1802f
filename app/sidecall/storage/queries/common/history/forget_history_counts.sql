DELETE FROM history_counts WHERE unit = $1 AND period = $2
