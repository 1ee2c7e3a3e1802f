"""What a program is shown of the tools."""
