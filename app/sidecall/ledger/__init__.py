"""What is remembered, wherever it is kept."""
