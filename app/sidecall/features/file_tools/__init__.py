"""Tools that read, write, search and patch files of a workspace."""
