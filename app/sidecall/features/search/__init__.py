"""Find tools by words."""
