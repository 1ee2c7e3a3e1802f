-- Ended calls that nobody is to find by a key or an approval any more; until $3 those that somebody is to be told of stay.
SELECT id, size FROM calls
WHERE free_at <= $1 AND ended_at <= $2 AND (callback_at IS NULL OR ended_at <= $3)
ORDER BY free_at LIMIT $4
