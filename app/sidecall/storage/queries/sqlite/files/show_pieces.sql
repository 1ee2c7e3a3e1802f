-- In this order: else SQLite may look at all pieces of the tenant.
SELECT p.id, m.file, m.store, f.name, m.attributes, p.text
FROM file_pieces AS p
CROSS JOIN vector_store_files AS m ON m.number = p.member
CROSS JOIN files AS f ON f.id = m.file
WHERE m.tenant = $1 AND p.id IN ({where})
