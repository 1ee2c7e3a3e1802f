"""Where what tools remember is kept."""
