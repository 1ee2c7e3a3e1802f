-- Whose a content is within its tenant, and what it is. Those that are kept already are texts of callers without a name.
ALTER TABLE contents ADD COLUMN caller text NOT NULL DEFAULT 'anonymous';
ALTER TABLE contents ADD COLUMN media_type text NOT NULL DEFAULT 'text/plain; charset=utf-8';
