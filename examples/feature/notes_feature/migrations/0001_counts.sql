-- How often each tool was called, on all servers of the store.
CREATE TABLE IF NOT EXISTS notes_counts (
    tool text PRIMARY KEY,
    calls bigint NOT NULL
);
