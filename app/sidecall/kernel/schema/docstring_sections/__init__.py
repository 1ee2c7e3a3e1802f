"""The sections of a docstring: read at once where they are plain, else by griffe, which takes long to load."""
