-- Also one that has expired, as long as it is there.
SELECT record
FROM approvals
WHERE fingerprint = $1 AND status NOT IN ('pending', 'expired')
