-- How many bytes of contents a caller keeps, and when the first of them expires.
SELECT CAST(coalesce(sum(size), 0) AS BIGINT), min(expires_at)
FROM contents
WHERE tenant = $1 AND caller = $2 AND expires_at > $3
