DELETE FROM servers
WHERE seen_at <= $1
