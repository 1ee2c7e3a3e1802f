"""What commands share: options, tables, JSON, and questions to a running server."""
