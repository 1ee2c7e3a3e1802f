SELECT (julianday('now') - 2440587.5) * 86400.0
