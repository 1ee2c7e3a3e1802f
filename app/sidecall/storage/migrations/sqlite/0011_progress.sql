-- What tools say while they run, for those who watch at another worker.
CREATE TABLE call_progress (
    call_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    number INTEGER NOT NULL,
    said TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (call_id, attempt, number)
);
CREATE INDEX call_progress_at ON call_progress (at);
