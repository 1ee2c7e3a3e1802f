-- What tools say while they run, for those who watch at another server. It is not worth a log: who needs it is there.
CREATE UNLOGGED TABLE call_progress (
    call_id text NOT NULL,
    attempt integer NOT NULL,
    number bigint NOT NULL,
    said text NOT NULL,
    at double precision NOT NULL,
    PRIMARY KEY (call_id, attempt, number)
);
CREATE INDEX call_progress_at ON call_progress (at);
