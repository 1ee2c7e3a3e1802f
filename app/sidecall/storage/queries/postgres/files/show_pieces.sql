-- Found by their numbers, one after the other, whatever is known of the tables.
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
