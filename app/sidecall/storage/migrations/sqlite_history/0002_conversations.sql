-- The conversations of calls: of each a row for all of its calls, and one for those of each caller. Times are seconds
-- since 1970.
CREATE TABLE history_conversations (
    tenant TEXT NOT NULL,
    whose TEXT NOT NULL,
    id TEXT NOT NULL,
    first_at REAL NOT NULL,
    last_at REAL NOT NULL,
    calls INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    PRIMARY KEY (tenant, whose, id)
) WITHOUT ROWID;
CREATE INDEX history_conversations_by_time ON history_conversations (tenant, whose, last_at, id);
CREATE INDEX history_conversations_by_age ON history_conversations (last_at);
