"""A tool in the form that each provider's API takes."""
