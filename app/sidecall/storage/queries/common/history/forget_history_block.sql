DELETE FROM history_blocks WHERE number = $1
