-- Messages about approvals, for those who have to be told. They are noted in the same step as the approval itself, so
-- that none is lost when a server is killed. Times are seconds since 1970.

-- Who is told. A server that tells a receiver says so again and again; one of which none has done so for long is gone,
-- with its messages. `notice` is how long before its expiry an approval is told again, `most` how many messages wait.
CREATE TABLE approval_receivers (
    id TEXT NOT NULL PRIMARY KEY,
    notice REAL NOT NULL,
    most INTEGER NOT NULL,
    until REAL NOT NULL
);

-- `listed` is the approval as lists show it, at that time; NULL where that is long. Messages are due at once (0), when
-- an approval is about to expire, or when they are tried again.
CREATE TABLE approval_messages (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    receiver TEXT NOT NULL,
    approval_id TEXT NOT NULL,
    event TEXT NOT NULL,
    status TEXT NOT NULL,
    listed TEXT,
    at REAL NOT NULL,
    due_at REAL NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX approval_messages_due ON approval_messages (receiver, due_at, number);
CREATE INDEX approval_messages_by_approval ON approval_messages (approval_id);

-- Those for whom there is room.
CREATE VIEW approval_receivers_open AS
SELECT id, notice, now
FROM (SELECT *, (julianday('now') - 2440587.5) * 86400.0 AS now FROM approval_receivers)
WHERE until > now AND (SELECT count(*) FROM approval_messages WHERE receiver = id) < most;

CREATE TRIGGER approval_messages_of_new AFTER INSERT ON approvals
WHEN new.status = 'pending' AND EXISTS (SELECT 1 FROM approval_receivers)
BEGIN
    DELETE FROM approval_messages WHERE receiver IN (
        SELECT id FROM approval_receivers WHERE until <= (julianday('now') - 2440587.5) * 86400.0
    );
    DELETE FROM approval_receivers WHERE until <= (julianday('now') - 2440587.5) * 86400.0;
    INSERT INTO approval_messages (receiver, approval_id, event, status, listed, at, due_at)
    SELECT id, new.id, 'approval.requested', new.status,
        CASE WHEN length(new.listed) <= 65536 THEN new.listed END, now, 0
    FROM approval_receivers_open;
    INSERT INTO approval_messages (receiver, approval_id, event, status, listed, at, due_at)
    SELECT id, new.id, 'approval.expiring', new.status,
        CASE WHEN length(new.listed) <= 65536 THEN new.listed END, soon, soon
    FROM (
        SELECT id, new.expires_at - min(notice, max(0, new.expires_at - now) / 2) AS soon FROM approval_receivers_open
    );
END;

-- It asks something else, or its decision could not be carried out.
CREATE TRIGGER approval_messages_of_reopened AFTER UPDATE OF status ON approvals
WHEN new.status = 'pending' AND old.status <> 'pending' AND EXISTS (SELECT 1 FROM approval_receivers)
BEGIN
    INSERT INTO approval_messages (receiver, approval_id, event, status, listed, at, due_at)
    SELECT id, new.id, 'approval.requested', new.status,
        CASE WHEN length(new.listed) <= 65536 THEN new.listed END, now, 0
    FROM approval_receivers_open;
    INSERT INTO approval_messages (receiver, approval_id, event, status, listed, at, due_at)
    SELECT id, new.id, 'approval.expiring', new.status,
        CASE WHEN length(new.listed) <= 65536 THEN new.listed END, soon, soon
    FROM (
        SELECT id, new.expires_at - min(notice, max(0, new.expires_at - now) / 2) AS soon FROM approval_receivers_open
    );
END;

-- What was not told yet of its expiry does not matter any more.
CREATE TRIGGER approval_messages_of_decided AFTER UPDATE OF status ON approvals
WHEN old.status = 'pending' AND new.status IN ('approved', 'rejected', 'cancelled')
    AND EXISTS (SELECT 1 FROM approval_receivers)
BEGIN
    DELETE FROM approval_messages WHERE approval_id = new.id AND event = 'approval.expiring' AND tries = 0;
    INSERT INTO approval_messages (receiver, approval_id, event, status, listed, at, due_at)
    SELECT id, new.id, 'approval.decided', new.status,
        CASE WHEN length(new.listed) <= 65536 THEN new.listed END, now, 0
    FROM approval_receivers_open;
END;
