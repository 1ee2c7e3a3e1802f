DELETE FROM items WHERE id = $1
