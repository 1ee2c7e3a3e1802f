-- What programs have sent to be searched.
CREATE TABLE files (
    id text COLLATE "C" PRIMARY KEY,
    tenant text NOT NULL,
    name text NOT NULL,
    purpose text NOT NULL,
    size bigint NOT NULL,
    created_at double precision NOT NULL,
    body bytea NOT NULL
);
CREATE INDEX files_of_tenant ON files (tenant, id, size);

CREATE TABLE vector_stores (
    id text COLLATE "C" PRIMARY KEY,
    tenant text NOT NULL,
    name text NOT NULL,
    metadata text NOT NULL,
    created_at double precision NOT NULL
);
CREATE INDEX vector_stores_of_tenant ON vector_stores (tenant, id);

-- The files of stores; of each the pieces and attributes have its number.
CREATE TABLE vector_store_files (
    id text COLLATE "C" PRIMARY KEY,
    number bigint NOT NULL UNIQUE,
    tenant text NOT NULL,
    store text COLLATE "C" NOT NULL REFERENCES vector_stores (id) ON DELETE CASCADE,
    file text COLLATE "C" NOT NULL REFERENCES files (id) ON DELETE CASCADE,
    created_at double precision NOT NULL,
    status text NOT NULL,
    error text NOT NULL,
    attributes text NOT NULL,
    piece bigint NOT NULL,
    overlap bigint NOT NULL,
    size bigint NOT NULL
);
CREATE INDEX vector_store_files_of_store ON vector_store_files (store, status, size);
CREATE INDEX vector_store_files_of_tenant ON vector_store_files (tenant, size);
CREATE INDEX vector_store_files_of_file ON vector_store_files (file);

CREATE TABLE file_attributes (
    member bigint NOT NULL REFERENCES vector_store_files (number) ON DELETE CASCADE,
    name text NOT NULL,
    kind text NOT NULL,
    text text COLLATE "C",
    number double precision,
    PRIMARY KEY (member, name)
);

CREATE TABLE file_pieces (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    member bigint NOT NULL REFERENCES vector_store_files (number) ON DELETE CASCADE,
    text text NOT NULL,
    vector bytea
);
CREATE INDEX file_pieces_of_member ON file_pieces (member);

-- Apart, so that what is ranked is read without what is shown.
CREATE TABLE file_words (
    piece bigint PRIMARY KEY REFERENCES file_pieces (id) ON DELETE CASCADE,
    member bigint NOT NULL,
    words tsvector NOT NULL
);
ALTER TABLE file_words ALTER COLUMN words SET STORAGE MAIN;
CREATE INDEX file_words_found ON file_words USING gin (words) WITH (fastupdate = off);
