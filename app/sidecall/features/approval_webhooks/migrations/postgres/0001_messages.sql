-- Messages about approvals, for those who have to be told. They are noted in the same step as the approval itself, so
-- that none is lost when a server is killed. Times are seconds since 1970.

-- Who is told. A server that tells a receiver says so again and again; one of which none has done so for long is gone,
-- with its messages. `notice` is how long before its expiry an approval is told again, `most` how many messages wait.
CREATE TABLE approval_receivers (
    id text NOT NULL PRIMARY KEY,
    notice double precision NOT NULL,
    most bigint NOT NULL,
    until double precision NOT NULL
);

-- `listed` is the approval as lists show it, at that time; NULL where that is long. Messages are due at once (0), when
-- an approval is about to expire, or when they are tried again.
CREATE TABLE approval_messages (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    receiver text NOT NULL,
    approval_id text NOT NULL,
    event text NOT NULL,
    status text NOT NULL,
    listed text,
    at double precision NOT NULL,
    due_at double precision NOT NULL,
    tries bigint NOT NULL DEFAULT 0
);
CREATE INDEX approval_messages_due ON approval_messages (receiver, due_at, number);
CREATE INDEX approval_messages_by_approval ON approval_messages (approval_id);

CREATE FUNCTION note_approval_messages() RETURNS trigger LANGUAGE plpgsql AS $note$
DECLARE
    clock double precision := extract(epoch FROM clock_timestamp());
BEGIN
    IF NOT EXISTS (SELECT 1 FROM approval_receivers) THEN
        RETURN NULL;
    END IF;
    IF tg_op = 'INSERT' THEN
        DELETE FROM approval_messages
        WHERE receiver IN (SELECT id FROM approval_receivers WHERE until <= clock);
        DELETE FROM approval_receivers WHERE until <= clock;
    ELSIF new.status <> 'pending' THEN  -- What was not told yet of its expiry does not matter any more.
        DELETE FROM approval_messages
        WHERE approval_id = new.id AND event = 'approval.expiring' AND tries = 0;
    END IF;
    INSERT INTO approval_messages (receiver, approval_id, event, status, listed, at, due_at)
    SELECT receivers.id, new.id, events.name, new.status, CASE WHEN length(new.listed) <= 65536 THEN new.listed END,
        events.at, events.due_at
    FROM approval_receivers AS receivers
        CROSS JOIN LATERAL (
            SELECT new.expires_at - least(receivers.notice, greatest(0, new.expires_at - clock) / 2) AS at
        ) AS expiring
        CROSS JOIN LATERAL (
            VALUES
                (1, 'pending', 'approval.requested', clock, 0),
                (2, 'pending', 'approval.expiring', expiring.at, expiring.at),
                (3, 'decided', 'approval.decided', clock, 0)
        ) AS events (place, kind, name, at, due_at)
    WHERE receivers.until > clock
        AND (SELECT count(*) FROM approval_messages AS kept WHERE kept.receiver = receivers.id) < receivers.most
        AND events.kind = CASE new.status WHEN 'pending' THEN 'pending' ELSE 'decided' END
    ORDER BY events.place;
    RETURN NULL;
END;
$note$;

CREATE TRIGGER approval_messages_of_new AFTER INSERT ON approvals
FOR EACH ROW WHEN (new.status = 'pending') EXECUTE FUNCTION note_approval_messages();

-- It was decided; or it asks something else, or its decision could not be carried out.
CREATE TRIGGER approval_messages_of_changed AFTER UPDATE OF status ON approvals
FOR EACH ROW WHEN (
    (old.status = 'pending') <> (new.status = 'pending') AND new.status <> 'expired'
) EXECUTE FUNCTION note_approval_messages();
