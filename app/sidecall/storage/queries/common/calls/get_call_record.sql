SELECT record FROM calls WHERE id = $1
