-- In this order: else SQLite may look for the words once for each piece.
SELECT p.id, -bm25(file_words, 1.2, 0.9, 0.5) AS score
FROM file_words
CROSS JOIN file_pieces AS p ON p.id = file_words.rowid
CROSS JOIN vector_store_files AS m ON m.number = p.member
WHERE file_words MATCH $1 AND m.tenant = $2 AND m.status = 'completed' {where}
ORDER BY score DESC
LIMIT $3
