"""Find the tools of files, folders and packages, and load them again when they change."""
