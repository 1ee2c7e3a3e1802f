-- What a person has said of a call, as JSON: its approval is forgotten long before the call.
ALTER TABLE calls ADD COLUMN decision TEXT;
