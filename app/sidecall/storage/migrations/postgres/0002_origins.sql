-- What calls belong to: their conversation, trace and HTTP request.
ALTER TABLE calls ADD COLUMN conversation_id text;
ALTER TABLE calls ADD COLUMN trace_id text;
ALTER TABLE calls ADD COLUMN request_id text;
CREATE INDEX calls_by_conversation ON calls (conversation_id, id) WHERE conversation_id IS NOT NULL;
CREATE INDEX calls_by_trace ON calls (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX calls_by_request ON calls (request_id) WHERE request_id IS NOT NULL;

-- The conversations of calls: of each a row for all of its calls, and one for those of each caller. Times are seconds
-- since 1970.
CREATE TABLE history_conversations (
    tenant text NOT NULL,
    whose text NOT NULL,
    id text COLLATE "C" NOT NULL,
    first_at double precision NOT NULL,
    last_at double precision NOT NULL,
    calls bigint NOT NULL,
    errors bigint NOT NULL,
    PRIMARY KEY (tenant, whose, id)
);
CREATE INDEX history_conversations_by_time ON history_conversations (tenant, whose, last_at, id);
CREATE INDEX history_conversations_by_age ON history_conversations (last_at);
