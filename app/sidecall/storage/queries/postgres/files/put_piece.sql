WITH piece AS (
    INSERT INTO file_pieces (member, text, vector)
    VALUES ($1, $2, $6)
    RETURNING id, member
)
INSERT INTO file_words (piece, member, words)
SELECT id, member, setweight(to_tsvector('english', $3), 'A')
    || setweight(to_tsvector('english', $4), 'B')
    || setweight(to_tsvector('english', $5), 'C')
FROM piece
