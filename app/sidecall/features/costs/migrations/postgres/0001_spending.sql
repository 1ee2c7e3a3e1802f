-- What calls have cost in a day, an hour or the like, by whose budget it is. Amounts are billionths, times seconds since
-- 1970.
CREATE TABLE IF NOT EXISTS spending (
    key text NOT NULL,
    begins_at bigint NOT NULL,
    ends_at bigint NOT NULL,
    spent bigint NOT NULL,
    PRIMARY KEY (key, begins_at)
);
CREATE INDEX IF NOT EXISTS spending_by_age ON spending (ends_at);
