-- What calls belong to: their conversation, trace and HTTP request.
ALTER TABLE calls ADD COLUMN conversation_id TEXT;
ALTER TABLE calls ADD COLUMN trace_id TEXT;
ALTER TABLE calls ADD COLUMN request_id TEXT;
CREATE INDEX calls_by_conversation ON calls (conversation_id, id) WHERE conversation_id IS NOT NULL;
CREATE INDEX calls_by_trace ON calls (trace_id) WHERE trace_id IS NOT NULL;
CREATE INDEX calls_by_request ON calls (request_id) WHERE request_id IS NOT NULL;
