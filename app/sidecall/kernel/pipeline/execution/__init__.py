"""Running the tool: where, how often, and until when."""
