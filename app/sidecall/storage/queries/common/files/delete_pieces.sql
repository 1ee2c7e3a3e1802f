DELETE FROM file_pieces
WHERE member = $1
