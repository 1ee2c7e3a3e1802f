-- The oldest beyond $1.
DELETE FROM audit_entries
WHERE action = 'denied'
    AND number <= (
        SELECT number FROM audit_entries
        WHERE action = 'denied'
        ORDER BY number DESC
        LIMIT 1 OFFSET CAST($1 AS BIGINT)
    )
