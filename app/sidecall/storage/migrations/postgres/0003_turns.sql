-- For how many seconds a call waited for its turn once it was begun, and how often its tool was run.
ALTER TABLE calls ADD COLUMN waited double precision;
ALTER TABLE calls ADD COLUMN attempts integer;

-- The latest call of each sum.
ALTER TABLE history_counts ADD COLUMN last_id text COLLATE "C" NOT NULL DEFAULT '';
