"""The tools as operations of an OpenAPI document, and calls of them."""
