DELETE FROM calls WHERE id = $1 AND free_at <= $2
