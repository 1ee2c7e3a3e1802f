"""What authors write that cannot work, or not everywhere."""
