"""Programs that run confined: shell commands and Python of a model."""
