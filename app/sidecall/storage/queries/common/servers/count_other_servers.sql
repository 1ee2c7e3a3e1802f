SELECT count(*) FROM servers WHERE seen_at > $1 AND id <> $2
