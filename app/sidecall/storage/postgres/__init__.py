"""PostgreSQL as a ledger's database: connections to it, its tables, and what is wrong with it."""
