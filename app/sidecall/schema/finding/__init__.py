"""From a question to the tools that it is about."""
