"""What is remembered until the process ends."""
