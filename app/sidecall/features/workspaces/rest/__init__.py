"""Routes' view of the files of conversations."""
