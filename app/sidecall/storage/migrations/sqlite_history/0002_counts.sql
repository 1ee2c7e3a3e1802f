-- Which calls of a block a mark is of, a bit for each; of blocks that were written before all may be.
ALTER TABLE history_marks ADD COLUMN bits0 INTEGER NOT NULL DEFAULT -1;
ALTER TABLE history_marks ADD COLUMN bits1 INTEGER NOT NULL DEFAULT -1;
ALTER TABLE history_marks ADD COLUMN bits2 INTEGER NOT NULL DEFAULT -1;
ALTER TABLE history_marks ADD COLUMN bits3 INTEGER NOT NULL DEFAULT -1;

-- Sums by the hour and by the day, each with the calls of 16 durations in one row.
CREATE TABLE history_counts (
    tenant TEXT NOT NULL,
    part TEXT NOT NULL,
    unit TEXT NOT NULL,
    period INTEGER NOT NULL,
    value TEXT NOT NULL,
    span INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    c0 INTEGER NOT NULL,
    c1 INTEGER NOT NULL,
    c2 INTEGER NOT NULL,
    c3 INTEGER NOT NULL,
    c4 INTEGER NOT NULL,
    c5 INTEGER NOT NULL,
    c6 INTEGER NOT NULL,
    c7 INTEGER NOT NULL,
    c8 INTEGER NOT NULL,
    c9 INTEGER NOT NULL,
    c10 INTEGER NOT NULL,
    c11 INTEGER NOT NULL,
    c12 INTEGER NOT NULL,
    c13 INTEGER NOT NULL,
    c14 INTEGER NOT NULL,
    c15 INTEGER NOT NULL,
    PRIMARY KEY (tenant, part, unit, period, value, span)
) WITHOUT ROWID;
CREATE INDEX history_counts_by_age ON history_counts (unit, period);

INSERT INTO history_counts
SELECT tenant, part, 'hour', hour, value, bucket / 16,
    SUM(is_error * calls),
    SUM(CASE bucket % 16 WHEN 0 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 1 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 2 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 3 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 4 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 5 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 6 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 7 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 8 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 9 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 10 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 11 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 12 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 13 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 14 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 15 THEN calls ELSE 0 END)
FROM history_sums GROUP BY tenant, part, hour, value, bucket / 16;

INSERT INTO history_counts
SELECT tenant, part, 'day', hour / 24, value, bucket / 16,
    SUM(is_error * calls),
    SUM(CASE bucket % 16 WHEN 0 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 1 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 2 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 3 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 4 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 5 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 6 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 7 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 8 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 9 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 10 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 11 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 12 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 13 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 14 THEN calls ELSE 0 END),
    SUM(CASE bucket % 16 WHEN 15 THEN calls ELSE 0 END)
FROM history_sums GROUP BY tenant, part, hour / 24, value, bucket / 16;

DROP TABLE history_sums;
