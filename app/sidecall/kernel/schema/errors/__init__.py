"""What is wrong with arguments, and where."""
