-- Calls that have ended, many in a row.
CREATE TABLE history_blocks (
    number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant text NOT NULL,
    last_id text COLLATE "C" NOT NULL,
    first_id text COLLATE "C" NOT NULL,
    calls bigint NOT NULL,
    size bigint NOT NULL,
    heads bytea NOT NULL,
    bodies bytea NOT NULL,
    UNIQUE (tenant, last_id)
);

-- Which of them hold a call of this name, caller, status or kind.
CREATE TABLE history_marks (
    tenant text NOT NULL,
    mark text NOT NULL,
    last_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, mark, last_id)
);

CREATE TABLE history_sums (
    tenant text NOT NULL,
    part text NOT NULL,
    hour bigint NOT NULL,
    value text NOT NULL,
    is_error bigint NOT NULL,
    bucket bigint NOT NULL,
    calls bigint NOT NULL,
    PRIMARY KEY (tenant, part, hour, value, is_error, bucket)
);
