-- They are read far more often than written, and hardly shrink: a page of a rare kind reads those of a hundred blocks.
ALTER TABLE history_blocks ALTER COLUMN heads SET STORAGE EXTERNAL;
