INSERT INTO file_pieces (member, text, head, lead, rest, vector)
VALUES ($1, $2, $3, $4, $5, $6)
