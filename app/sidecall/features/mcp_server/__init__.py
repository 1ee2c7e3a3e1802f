"""The same pipeline over the Model Context Protocol."""
