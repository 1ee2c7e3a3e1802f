SELECT MIN(period) FROM history_counts WHERE unit = $1
