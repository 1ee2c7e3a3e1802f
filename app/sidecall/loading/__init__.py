"""Find the tools of files, folders and packages, and reload them when they change."""
