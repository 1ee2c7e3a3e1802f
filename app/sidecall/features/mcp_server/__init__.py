"""The pipeline over the Model Context Protocol."""
