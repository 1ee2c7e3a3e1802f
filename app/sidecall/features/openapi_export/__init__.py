"""The tools as operations of an OpenAPI document, and their calls."""
