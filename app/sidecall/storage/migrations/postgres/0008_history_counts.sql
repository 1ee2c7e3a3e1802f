-- Which calls of a block a mark is of, a bit for each; of blocks that were written before all may be.
ALTER TABLE history_marks ADD COLUMN bits0 bigint NOT NULL DEFAULT -1;
ALTER TABLE history_marks ADD COLUMN bits1 bigint NOT NULL DEFAULT -1;
ALTER TABLE history_marks ADD COLUMN bits2 bigint NOT NULL DEFAULT -1;
ALTER TABLE history_marks ADD COLUMN bits3 bigint NOT NULL DEFAULT -1;

-- Sums by the hour and by the day, each with the calls of 16 durations in one row.
CREATE TABLE history_counts (
    tenant text NOT NULL,
    part text NOT NULL,
    unit text NOT NULL,
    period bigint NOT NULL,
    value text NOT NULL,
    span bigint NOT NULL,
    errors bigint NOT NULL,
    c0 bigint NOT NULL,
    c1 bigint NOT NULL,
    c2 bigint NOT NULL,
    c3 bigint NOT NULL,
    c4 bigint NOT NULL,
    c5 bigint NOT NULL,
    c6 bigint NOT NULL,
    c7 bigint NOT NULL,
    c8 bigint NOT NULL,
    c9 bigint NOT NULL,
    c10 bigint NOT NULL,
    c11 bigint NOT NULL,
    c12 bigint NOT NULL,
    c13 bigint NOT NULL,
    c14 bigint NOT NULL,
    c15 bigint NOT NULL,
    PRIMARY KEY (tenant, part, unit, period, value, span)
);
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
