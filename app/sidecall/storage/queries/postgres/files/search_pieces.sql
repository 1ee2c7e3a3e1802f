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
