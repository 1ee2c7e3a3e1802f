-- When all calls of a caller, or of a caller and a tool, are back; and what was granted last. Times are nanoseconds.
-- What is lost in a crash are calls that come back anyway, so it is not logged.
CREATE UNLOGGED TABLE call_rates (
    key text PRIMARY KEY,
    whole_at bigint NOT NULL,
    granted bigint NOT NULL,
    spent bigint NOT NULL
);
