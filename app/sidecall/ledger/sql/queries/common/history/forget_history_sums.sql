DELETE FROM history_sums WHERE hour < $1
