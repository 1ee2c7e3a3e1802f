"""PostgreSQL: connections, tables and outages."""
