-- What calls have cost in a day, an hour or the like, by whose budget it is. Amounts are billionths, times seconds since
-- 1970.
CREATE TABLE IF NOT EXISTS spending (
    key TEXT NOT NULL,
    begins_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    spent INTEGER NOT NULL,
    PRIMARY KEY (key, begins_at)
);
CREATE INDEX IF NOT EXISTS spending_by_age ON spending (ends_at);
