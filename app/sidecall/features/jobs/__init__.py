"""Jobs: durable calls that run without a waiting client."""
