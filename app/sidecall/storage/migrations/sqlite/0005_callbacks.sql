-- Where to tell that a call has ended, when that is tried next (NULL once nothing is left to do), and how often it was.
ALTER TABLE calls ADD COLUMN callback_url TEXT;
ALTER TABLE calls ADD COLUMN callback_at REAL;
ALTER TABLE calls ADD COLUMN callback_tries INTEGER NOT NULL DEFAULT 0;
CREATE INDEX calls_to_tell ON calls (callback_at) WHERE callback_at IS NOT NULL;
