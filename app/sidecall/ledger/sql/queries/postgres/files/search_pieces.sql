WITH wanted AS MATERIALIZED (
    SELECT lexeme, CAST(quote_literal(lexeme) AS tsquery) AS query
    FROM unnest(to_tsvector('english', $1))
), mine AS MATERIALIZED (
    SELECT m.number
    FROM vector_store_files AS m
    WHERE m.tenant = $2 AND m.status = 'completed' {where}
), hits AS MATERIALIZED (
    SELECT w.piece, wanted.lexeme, ts_rank('{0, 0.5, 0.8, 1}', w.words, wanted.query, 33) AS share
    FROM wanted JOIN file_words AS w ON w.words @@ wanted.query
    WHERE w.member IN (SELECT number FROM mine)
), worth AS (
    SELECT lexeme, ln(1 + (SELECT count(*) FROM mine) / CAST(count(*) AS double precision)) AS idf
    FROM hits
    GROUP BY lexeme
)
SELECT piece, 40 * sum(share * idf) AS score
FROM hits JOIN worth USING (lexeme)
GROUP BY piece
ORDER BY score DESC
LIMIT $3
