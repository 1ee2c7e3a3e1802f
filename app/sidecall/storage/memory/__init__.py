"""What is kept until the process ends."""
