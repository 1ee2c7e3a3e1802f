"""From a signature to a schema and a validator, and back to words that a model understands."""
