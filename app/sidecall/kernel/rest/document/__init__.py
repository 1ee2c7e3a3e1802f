"""The OpenAPI document, made when somebody first asks for it."""
