-- Who is logged in at the console. `id` is the hash of what a cookie has; `sealed` is a credential that only that cookie
-- opens. Times are seconds since 1970.
CREATE TABLE IF NOT EXISTS console_sessions (
    id text PRIMARY KEY,
    sealed text NOT NULL,
    begun_at bigint NOT NULL,
    seen_at bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS console_sessions_by_age ON console_sessions (seen_at);
