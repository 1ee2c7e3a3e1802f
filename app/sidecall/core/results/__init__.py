"""What results take of memory while they are made and written."""
