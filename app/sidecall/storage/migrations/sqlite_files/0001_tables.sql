-- "SIDE": says that the file is one of ours.
PRAGMA application_id = 1397310533;

CREATE TABLE schema_version (
    version INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    applied_at REAL NOT NULL
);

-- What programs have sent to be searched.
CREATE TABLE files (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    purpose TEXT NOT NULL,
    size INTEGER NOT NULL,
    created_at REAL NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX files_of_tenant ON files (tenant, id, size);

CREATE TABLE vector_stores (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    metadata TEXT NOT NULL,
    created_at REAL NOT NULL
);
CREATE INDEX vector_stores_of_tenant ON vector_stores (tenant, id);

-- The files of stores; of each the pieces and attributes have its number.
CREATE TABLE vector_store_files (
    id TEXT PRIMARY KEY,
    number INTEGER NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    store TEXT NOT NULL,
    file TEXT NOT NULL,
    created_at REAL NOT NULL,
    status TEXT NOT NULL,
    error TEXT NOT NULL,
    attributes TEXT NOT NULL,
    piece INTEGER NOT NULL,
    overlap INTEGER NOT NULL,
    size INTEGER NOT NULL
);
CREATE INDEX vector_store_files_of_store ON vector_store_files (store, status, size);
CREATE INDEX vector_store_files_of_tenant ON vector_store_files (tenant, size);
CREATE INDEX vector_store_files_of_file ON vector_store_files (file);

CREATE TABLE file_attributes (
    member INTEGER NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT,
    number REAL,
    PRIMARY KEY (member, name)
) WITHOUT ROWID;

CREATE TABLE file_pieces (
    id INTEGER PRIMARY KEY,
    member INTEGER NOT NULL,
    text TEXT NOT NULL,
    head TEXT NOT NULL,
    lead TEXT NOT NULL,
    rest TEXT NOT NULL,
    vector BLOB
);
CREATE INDEX file_pieces_of_member ON file_pieces (member);

CREATE VIRTUAL TABLE file_words USING fts5 (
    head, lead, rest, content = 'file_pieces', content_rowid = 'id',
    tokenize = 'porter unicode61 remove_diacritics 2'
);

-- Texts of a usual length that nobody finds: among few pieces, too, a word that stands in all is worth something.
WITH RECURSIVE fillers (number) AS (SELECT -256 UNION ALL SELECT number + 1 FROM fillers WHERE number < -1)
INSERT INTO file_words (rowid, head, lead, rest) SELECT number, '', '', replace(hex(zeroblob(50)), '0', 'zz ') FROM fillers;

CREATE TRIGGER file_pieces_added AFTER INSERT ON file_pieces BEGIN
    INSERT INTO file_words (rowid, head, lead, rest) VALUES (new.id, new.head, new.lead, new.rest);
END;
CREATE TRIGGER file_pieces_removed AFTER DELETE ON file_pieces BEGIN
    INSERT INTO file_words (file_words, rowid, head, lead, rest)
    VALUES ('delete', old.id, old.head, old.lead, old.rest);
END;
CREATE TRIGGER vector_store_files_removed AFTER DELETE ON vector_store_files BEGIN
    DELETE FROM file_pieces WHERE member = old.number;
    DELETE FROM file_attributes WHERE member = old.number;
END;
CREATE TRIGGER vector_stores_removed AFTER DELETE ON vector_stores BEGIN
    DELETE FROM vector_store_files WHERE store = old.id;
END;
CREATE TRIGGER files_removed AFTER DELETE ON files BEGIN
    DELETE FROM vector_store_files WHERE file = old.id;
END;

-- How much each tenant keeps, counted as it comes and goes: to sum it up for each file takes longer with each file.
CREATE TABLE file_room (
    tenant TEXT PRIMARY KEY,
    files INTEGER NOT NULL,
    members INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) WITHOUT ROWID;

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
