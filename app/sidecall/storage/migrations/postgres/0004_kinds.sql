-- What failed in a way, however rare that is.
CREATE INDEX calls_by_kind ON calls (kind, id) WHERE kind IS NOT NULL;
