SELECT p.id, m.file, m.store, f.name, m.attributes, p.text
FROM file_pieces AS p JOIN vector_store_files AS m ON m.number = p.member JOIN files AS f ON f.id = m.file
WHERE m.tenant = $1 {where}
