INSERT INTO file_attributes (member, name, kind, text, number)
VALUES ($1, $2, $3, $4, $5)
