SELECT CAST(extract(epoch FROM clock_timestamp()) AS DOUBLE PRECISION)
