-- How much each tenant keeps, counted as it comes and goes: to sum it up for each file takes longer with each file.
CREATE TABLE file_room (
    tenant TEXT PRIMARY KEY,
    files INTEGER NOT NULL,
    members INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO file_room (tenant, files, members, bytes)
SELECT tenant, sum(files), sum(members), sum(size)
FROM (
    SELECT tenant, 1 AS files, 0 AS members, size FROM files
    UNION ALL SELECT tenant, 0, 1, size FROM vector_store_files
)
GROUP BY tenant;

CREATE TRIGGER files_take_room AFTER INSERT ON files BEGIN
    INSERT INTO file_room (tenant, files, members, bytes) VALUES (new.tenant, 1, 0, new.size)
    ON CONFLICT (tenant) DO UPDATE SET files = files + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER files_give_room AFTER DELETE ON files BEGIN
    UPDATE file_room SET files = files - 1, bytes = bytes - old.size WHERE tenant = old.tenant;
END;
CREATE TRIGGER vector_store_files_take_room AFTER INSERT ON vector_store_files BEGIN
    INSERT INTO file_room (tenant, files, members, bytes) VALUES (new.tenant, 0, 1, new.size)
    ON CONFLICT (tenant) DO UPDATE SET members = members + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER vector_store_files_give_room AFTER DELETE ON vector_store_files BEGIN
    UPDATE file_room SET members = members - 1, bytes = bytes - old.size WHERE tenant = old.tenant;
END;
