"""Extract the text of uploaded files."""
