"""Python modules of a project: found, loaded and kept as they were loaded."""
