-- Files that programs send, the stores that they are in, and their pieces.

-- name: put_attribute
INSERT INTO file_attributes (member, name, kind, text, number)
VALUES ($1, $2, $3, $4, $5)

-- name: put_file (sqlite)
INSERT INTO files (id, tenant, name, purpose, size, created_at, body)
SELECT $1, $2, $3, $4, $5, $6, $7
WHERE NOT EXISTS (SELECT 1 FROM file_room WHERE tenant = $2 AND (files >= $8 OR bytes + $5 > $9))
    AND $5 <= $9 AND $8 > 0
RETURNING id

-- name: put_file (postgres)
INSERT INTO files (id, tenant, name, purpose, size, created_at, body)
SELECT $1, $2, $3, $4, CAST($5 AS BIGINT), CAST($6 AS DOUBLE PRECISION), $7
WHERE (SELECT count(*) FROM files WHERE tenant = $2) < CAST($8 AS BIGINT)
    AND (SELECT coalesce(sum(size), 0) FROM files WHERE tenant = $2)
        + (SELECT coalesce(sum(size), 0) FROM vector_store_files WHERE tenant = $2)
        + CAST($5 AS BIGINT) <= CAST($9 AS BIGINT)
RETURNING id

-- name: put_member (sqlite)
INSERT INTO vector_store_files
    (id, number, tenant, store, file, created_at, status, error, attributes, piece, overlap, size)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
WHERE EXISTS (SELECT 1 FROM vector_stores WHERE id = $4 AND tenant = $3)
    AND EXISTS (SELECT 1 FROM files WHERE id = $5 AND tenant = $3)
    AND NOT EXISTS (SELECT 1 FROM file_room WHERE tenant = $3 AND (members >= $14 OR bytes + $12 > $13))
ON CONFLICT (id) DO NOTHING
RETURNING id

-- name: put_member (postgres)
INSERT INTO vector_store_files
    (id, number, tenant, store, file, created_at, status, error, attributes, piece, overlap, size)
SELECT $1, CAST($2 AS BIGINT), $3, $4, $5, CAST($6 AS DOUBLE PRECISION), $7, $8, $9,
    CAST($10 AS BIGINT), CAST($11 AS BIGINT), CAST($12 AS BIGINT)
WHERE EXISTS (SELECT 1 FROM vector_stores WHERE id = $4 AND tenant = $3)
    AND EXISTS (SELECT 1 FROM files WHERE id = $5 AND tenant = $3)
    AND (SELECT coalesce(sum(size), 0) FROM files WHERE tenant = $3)
        + (SELECT coalesce(sum(size), 0) FROM vector_store_files WHERE tenant = $3)
        + CAST($12 AS BIGINT) <= CAST($13 AS BIGINT)
    AND (SELECT count(*) FROM vector_store_files WHERE tenant = $3) < CAST($14 AS BIGINT)
ON CONFLICT (id) DO NOTHING
RETURNING id

-- name: put_vector_store
INSERT INTO vector_stores (id, tenant, name, metadata, created_at)
SELECT $1, $2, $3, $4, CAST($5 AS DOUBLE PRECISION)
WHERE (SELECT count(*) FROM vector_stores WHERE tenant = $2) < CAST($6 AS BIGINT)
RETURNING id

-- name: count_member_room
SELECT (SELECT count(*) FROM vector_stores WHERE tenant = $1 AND id = $2),
    (SELECT count(*) FROM files WHERE tenant = $1 AND id = $3),
    (SELECT count(*) FROM vector_store_files WHERE tenant = $1),
    (SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM files WHERE tenant = $1),
    (SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM vector_store_files WHERE tenant = $1)

-- name: list_files
SELECT id, name, purpose, size, created_at
FROM files
WHERE tenant = $1 {where}
LIMIT $2

-- name: list_members
SELECT m.file, m.store, m.created_at, m.status, m.error, m.attributes, m.piece, m.overlap, m.size
FROM vector_store_files AS m
WHERE m.tenant = $1 AND m.store = $2 {where}
LIMIT $3

-- name: list_vector_stores
SELECT s.id, s.name, s.metadata, s.created_at,
    (SELECT count(*) FROM vector_store_files AS m WHERE m.store = s.id AND m.status = 'completed'),
    (SELECT count(*) FROM vector_store_files AS m WHERE m.store = s.id AND m.status = 'failed'),
    (SELECT count(*) FROM vector_store_files AS m WHERE m.store = s.id AND m.status = 'in_progress'),
    (SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM vector_store_files AS m WHERE m.store = s.id)
FROM vector_stores AS s
WHERE s.tenant = $1 {where}
LIMIT $2

-- name: list_vectors
SELECT p.id, p.vector
FROM file_pieces AS p JOIN vector_store_files AS m ON m.number = p.member
WHERE m.tenant = $1 AND m.status = 'completed' AND p.vector IS NOT NULL AND p.id > $2 {where}
ORDER BY p.id
LIMIT $3

-- name: put_piece (sqlite)
INSERT INTO file_pieces (member, text, head, lead, rest, vector)
VALUES ($1, $2, $3, $4, $5, $6)

-- name: put_piece (postgres)
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

-- name: read_file
SELECT body
FROM files
WHERE id = $1 AND tenant = $2

-- name: search_pieces (sqlite)
-- In this order: else SQLite may look for the words once for each piece.
SELECT p.id, -bm25(file_words, 1.2, 0.9, 0.5) AS score
FROM file_words
CROSS JOIN file_pieces AS p ON p.id = file_words.rowid
CROSS JOIN vector_store_files AS m ON m.number = p.member
WHERE file_words MATCH $1 AND m.tenant = $2 AND m.status = 'completed' {where}
ORDER BY score DESC
LIMIT $3

-- name: search_pieces (postgres)
-- Written so that new tables, of which nothing is known yet, are read as others are: words by their index, each by
-- itself, and numbers of files hashed.
WITH wanted AS MATERIALIZED (
    SELECT CAST(ordinality AS integer) AS place, CAST(quote_literal(lexeme) AS tsquery) AS query
    FROM unnest(to_tsvector('english', $1)) WITH ORDINALITY
), mine AS MATERIALIZED (
    SELECT array_agg(m.number) AS numbers, CAST(count(*) AS double precision) AS files
    FROM vector_store_files AS m
    WHERE m.tenant = $2 AND m.status = 'completed' {where}
), hits AS MATERIALIZED (
    SELECT w.piece, wanted.place, ts_rank('{0, 0.7, 0.8, 1}', w.words, wanted.query, 33) AS share
    FROM wanted
    CROSS JOIN LATERAL (
        SELECT piece, member, words FROM file_words WHERE words @@ wanted.query OFFSET 0
    ) AS w
    JOIN (SELECT unnest(numbers) AS number FROM mine) AS m ON m.number = w.member
), worth AS (
    SELECT place, ln(1 + (SELECT files FROM mine) / count(*)) AS idf
    FROM hits
    GROUP BY place
)
SELECT piece, 40 * sum(share * idf) AS score
FROM hits JOIN worth USING (place)
GROUP BY piece
ORDER BY score DESC
LIMIT $3

-- name: show_pieces (sqlite)
-- In this order: else SQLite may look at all pieces of the tenant.
SELECT p.id, m.file, m.store, f.name, m.attributes, p.text
FROM file_pieces AS p
CROSS JOIN vector_store_files AS m ON m.number = p.member
CROSS JOIN files AS f ON f.id = m.file
WHERE m.tenant = $1 AND p.id IN ({where})

-- name: show_pieces (postgres)
-- Found by their numbers, one after the other, even in tables of which nothing is known yet.
SELECT found.id, found.file, found.store, found.name, found.attributes, found.text
FROM (
    SELECT p.id, m.file, m.store, f.name, m.attributes, p.text, m.tenant
    FROM unnest(CAST(ARRAY[{where}] AS bigint[])) AS wanted (id)
    JOIN file_pieces AS p ON p.id = wanted.id
    JOIN vector_store_files AS m ON m.number = p.member
    JOIN files AS f ON f.id = m.file
    OFFSET 0
) AS found
WHERE found.tenant = $1

-- name: finish_member
UPDATE vector_store_files
SET status = 'completed'
WHERE id = $1 AND number = $2
RETURNING id

-- name: give_up_members
UPDATE vector_store_files
SET status = 'failed', error = $3
WHERE status = $1 AND created_at < $2

-- name: update_vector_store
UPDATE vector_stores
SET name = coalesce($3, name), metadata = coalesce($4, metadata)
WHERE id = $1 AND tenant = $2
RETURNING id

-- name: delete_attributes
DELETE FROM file_attributes
WHERE member = $1

-- name: delete_file
DELETE FROM files
WHERE id = $1 AND tenant = $2
RETURNING id

-- name: delete_member
DELETE FROM vector_store_files
WHERE id = $1 AND tenant = $2
RETURNING id

-- name: delete_pieces
DELETE FROM file_pieces
WHERE member = $1

-- name: delete_vector_store
DELETE FROM vector_stores
WHERE id = $1 AND tenant = $2
RETURNING id

-- name: drop_member
DELETE FROM vector_store_files
WHERE id = $1 AND number = $2
RETURNING id

-- name: make_way
-- What another request puts there just now stays, unless it was given up long ago.
DELETE FROM vector_store_files
WHERE id = $1 AND tenant = $2 AND (status <> 'in_progress' OR created_at < $3)
RETURNING id
