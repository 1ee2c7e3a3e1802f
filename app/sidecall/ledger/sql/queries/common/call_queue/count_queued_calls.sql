SELECT count(*) FROM calls WHERE status = 'queued'
