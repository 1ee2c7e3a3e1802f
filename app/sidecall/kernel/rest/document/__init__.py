"""The OpenAPI document, made at its first request."""
