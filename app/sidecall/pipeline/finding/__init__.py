"""Finding tools, for programs and for models."""
