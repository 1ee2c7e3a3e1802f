-- For how many seconds a call waited for its turn once it was begun, and how often its tool was run.
ALTER TABLE calls ADD COLUMN waited REAL;
ALTER TABLE calls ADD COLUMN attempts INTEGER;
