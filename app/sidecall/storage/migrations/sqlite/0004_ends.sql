-- What failed in a way, however rare that is.
CREATE INDEX calls_by_kind ON calls (kind, id) WHERE kind IS NOT NULL;
-- Whether a call is open is seen at its end: for a list of statuses SQLite would make a table at each write.
DROP INDEX calls_open;
DROP INDEX calls_by_status;
CREATE INDEX calls_open ON calls (status, id) WHERE ended_at IS NULL;
CREATE INDEX calls_by_status ON calls (status, id) WHERE ended_at IS NOT NULL AND status <> 'succeeded';
