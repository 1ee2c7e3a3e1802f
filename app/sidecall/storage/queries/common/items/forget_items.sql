DELETE FROM items WHERE expires_at <= $1
