"""What is handed to tools and shown to nobody."""
