"""From a signature to a schema and a validator, and from errors to texts for the model."""
