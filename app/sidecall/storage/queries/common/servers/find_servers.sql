SELECT id, started_at, seen_at
FROM servers
{where}
ORDER BY started_at, id
