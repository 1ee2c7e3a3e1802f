-- From when on an ended call may be forgotten: nobody is to find it by its key or its approval any more.
ALTER TABLE calls ADD COLUMN free_at double precision;
UPDATE calls SET free_at = CASE
    WHEN key_expires_at > ended_at THEN key_expires_at
    WHEN approval_id IS NOT NULL THEN ended_at + 3600
    ELSE ended_at
END
WHERE ended_at IS NOT NULL;
CREATE INDEX calls_free ON calls (free_at, ended_at, size) WHERE free_at IS NOT NULL;
-- What one caller keeps is summed up at each upload.
CREATE INDEX contents_by_caller ON contents (tenant, caller, number, size, expires_at);
