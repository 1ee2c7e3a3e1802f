-- What is too old ($1), and the oldest beyond $2.
DELETE FROM audit_entries
WHERE at <= $1
    OR number <= (SELECT number FROM audit_entries ORDER BY number DESC LIMIT 1 OFFSET CAST($2 AS BIGINT))
