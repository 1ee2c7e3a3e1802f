-- The latest call of each sum.
ALTER TABLE history_counts ADD COLUMN last_id TEXT NOT NULL DEFAULT '';
