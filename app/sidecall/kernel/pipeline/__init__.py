"""What happens to a call, one stage a file."""
